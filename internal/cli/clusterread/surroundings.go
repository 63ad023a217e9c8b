package clusterread

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Surroundings finds the objects of an input that can matter to one of its workloads. Without it,
// each of many workloads is planned among the budgets of all others.
type Surroundings struct {
	all []*resource.Resource
	// always are the places in all of what can matter to every workload.
	always []int
	// budgets are the places of the budgets of a namespace.
	budgets map[string]*budgetPlaces
}

// budgetPlaces are the places of budgets by what their pods must have.
type budgetPlaces struct {
	// labelled has them by one label of their selectors, key before value.
	labelled map[string]map[string][]int
	// targets has them by the name of their target, and by the label of what it was rendered to.
	targets map[string][]int
}

// NewSurroundings files the objects.
func NewSurroundings(list []*resource.Resource) *Surroundings {
	s := &Surroundings{all: list, budgets: map[string]*budgetPlaces{}}
	names := map[string]int{}
	found := make([]*budgetScope, len(list))
	for i, r := range list {
		if !surrounds(r) {
			continue
		}
		if found[i] = scopeOf(r); found[i] != nil {
			names[found[i].id]++
		}
	}
	for i, r := range list {
		switch b := found[i]; {
		case !surrounds(r):
		case b == nil || names[b.id] > 1: // of two of one name, the second replaces the first
			s.always = append(s.always, i)
		default:
			s.file(b, i)
		}
	}
	return s
}

// surrounds reports whether an object matters to the rollout of another.
func surrounds(r *resource.Resource) bool {
	return simulate.IsSurrounding(cluster.Ref{Group: r.Group(), Kind: r.Kind()})
}

// budgetScope is what is known of the pods of a budget without looking at them.
type budgetScope struct {
	id, namespace string
	key, value    string
	target        *kruise.TargetReference
}

// scopeOf returns nil for what is no budget, and for a budget that may cover any pod or cannot be
// read.
func scopeOf(r *resource.Resource) *budgetScope {
	b := &budgetScope{id: r.Kind() + "/" + r.Namespace() + "/" + r.Name(), namespace: r.Namespace()}
	var selector *metav1.LabelSelector
	switch {
	case r.Is(kruise.PolicyGroup, kruise.KindPodUnavailableBudget):
		var budget kruise.PodUnavailableBudget
		if _, err := kruise.Decode(r.Node(), &budget); err != nil {
			return nil
		}
		selector, b.target = budget.Spec.Selector, budget.Spec.TargetReference
	case r.Is("policy", "PodDisruptionBudget"):
		var budget policyv1.PodDisruptionBudget
		if _, err := tree.Decode(r.Node(), &budget); err != nil {
			return nil
		}
		if rendered, err := controller.Rendered(&budget); rendered != nil || err != nil {
			return nil
		}
		selector = budget.Spec.Selector
	}
	if b.target != nil {
		return b
	}
	if selector == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		if !setByControllers(key) {
			b.key, b.value = key, selector.MatchLabels[key]
			return b
		}
	}
	return nil
}

// setByControllers reports whether a controller may give pods another value of a label than their
// template does.
func setByControllers(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	switch key {
	case appsv1.ControllerRevisionHashLabelKey, appsv1.DefaultDeploymentUniqueLabelKey, "pod-template-generation":
		return true
	}
	return strings.Contains(key, "/") && domain != "app.kubernetes.io"
}

func (s *Surroundings) file(b *budgetScope, place int) {
	in := s.budgets[b.namespace]
	if in == nil {
		in = &budgetPlaces{labelled: map[string]map[string][]int{}, targets: map[string][]int{}}
		s.budgets[b.namespace] = in
	}
	if t := b.target; t != nil {
		for _, name := range []string{t.Name, kruise.SourceValue(t.Kind, t.Name)} {
			in.targets[name] = append(in.targets[name], place)
		}
		return
	}
	if in.labelled[b.key] == nil {
		in.labelled[b.key] = map[string][]int{}
	}
	in.labelled[b.key][b.value] = append(in.labelled[b.key][b.value], place)
}

// Of returns the objects that can matter to the rollout of a workload, in their order: without
// budgets that cover none of its pods. For a SidecarSet, which is in the pods of others, these
// are all objects.
func (s *Surroundings) Of(target *resource.Resource) []*resource.Resource {
	if target.Kind() == kruise.KindSidecarSet {
		return s.all
	}
	places := slices.Clone(s.always)
	if in := s.budgets[target.Namespace()]; in != nil {
		places = append(places, in.targets[target.Name()]...)
		if source := tree.StrAt(target.Node(), "metadata", "labels", kruise.SourceLabel); source != "" {
			places = append(places, in.targets[source]...)
		}
		labels := tree.Strings(tree.Get(target.Node(), "spec", "template", "metadata", "labels"))
		for key, values := range in.labelled {
			if value, ok := labels[key]; ok {
				places = append(places, values[value]...)
				continue
			}
			for _, budgets := range values { // a controller may add the label
				places = append(places, budgets...)
			}
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	out := make([]*resource.Resource, len(places))
	for i, place := range places {
		out[i] = s.all[place]
	}
	return out
}
