package lint

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about budgets.
var budgetAdvice = []advice{
	{id: "podunavailablebudget/never-allows", kinds: []string{budget}, check: neverAllows},
	{id: "podunavailablebudget/covers-nothing", kinds: []string{budget}, check: coversNothing},
	{id: "podunavailablebudget/two-budgets", kinds: []string{budget}, check: twoBudgets},
}

// coveredTemplates returns the templates that a budget covers.
func (s *subject) coveredTemplates(b *kruise.PodUnavailableBudget) (list []template, known bool) {
	namespace := s.c.Facts.NamespaceOf(s.r)
	if ref := b.Spec.TargetReference; ref != nil {
		if i, ok := s.owned[resource.ID{Group: resource.GroupOf(ref.APIVersion), Kind: ref.Kind, Namespace: namespace, Name: ref.Name}]; ok {
			return s.templates[i : i+1], true
		}
		return nil, s.request.Known
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil, false
	}
	return s.selected(namespace, selector), len(s.templates) > 0
}

func neverAllows(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	if m := b.Spec.MaxUnavailable; m != nil && podsOf(m, 100) == 0 {
		s.report("spec.maxUnavailable", "allow at least 1", "never allows a disruption")
		return
	}
	list, _ := s.coveredTemplates(&b)
	expected := 0
	for _, t := range list {
		expected += max(t.replicas, 0)
	}
	if b.Spec.ProtectTotalReplicas != nil {
		expected = int(*b.Spec.ProtectTotalReplicas)
	}
	if m := b.Spec.MinAvailable; m != nil && expected > 0 && podsOf(m, expected) >= expected {
		s.report("spec.minAvailable", "leave room for at least one pod", "requires %s of %s, and so never allows a disruption", m.String(), counted.Of(expected, "pod"))
	}
}

// podsOf returns the number of pods that a number or percentage is, rounded up.
func podsOf(v *intstr.IntOrString, total int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, total, true)
	if err != nil {
		return 0
	}
	return n
}

func coversNothing(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	if list, known := s.coveredTemplates(&b); known && len(list) == 0 {
		field := "spec.selector"
		if b.Spec.TargetReference != nil {
			field = "spec.targetRef"
		}
		s.report(field, "compare with the workloads, or add other existing objects with --with", "matches no pod template")
	}
}

func twoBudgets(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	list, _ := s.coveredTemplates(&b)
	x := s.disruptionBudgets()
	first := map[int]template{}
	for _, t := range list {
		for _, place := range x.index.Candidates(t.labels) {
			if _, found := first[place]; !found && x.covers(place, s.c.Facts.NamespaceOf(s.r), t.labels) {
				first[place] = t
			}
		}
	}
	places := slices.Sorted(maps.Keys(first))
	if len(places) == 0 {
		return
	}
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = x.budgets[place].Name()
	}
	owner := first[places[0]].owner
	s.report("spec", "keep one of the two, or leave EVICT out of protectOperations", "PodDisruptionBudget %s also %s the pods of %s %s",
		counted.Some(names), counted.Word(len(names), "covers", "cover"), strings.ToLower(owner.Kind()), owner.Name())
}

// disruptionBudgets are all PodDisruptionBudgets by what they select.
type disruptionBudgets struct {
	facts     *resource.Facts
	budgets   []*resource.Resource
	selectors []labels.Selector
	index     *kruise.SelectorIndex
}

// disruptionBudgetsKey is the key of what is worked out once for all budgets.
type disruptionBudgetsKey struct{}

func (s *subject) disruptionBudgets() *disruptionBudgets {
	f := s.c.Facts
	return resource.Once(f, disruptionBudgetsKey{}, func() *disruptionBudgets {
		x := &disruptionBudgets{facts: f, budgets: f.All("policy", "PodDisruptionBudget")}
		for _, r := range x.budgets {
			x.selectors = append(x.selectors, selectorOf(r))
		}
		x.index = kruise.NewSelectorIndex(x.selectors)
		return x
	})
}

// covers reports whether the budget at a place guards pods with the labels.
func (x *disruptionBudgets) covers(place int, namespace string, set labels.Set) bool {
	return x.facts.NamespaceOf(x.budgets[place]) == namespace && x.selectors[place].Matches(set)
}

// selectorOf returns the spec.selector of an object, nil if it matches nothing.
func selectorOf(r *resource.Resource) labels.Selector {
	var s metav1.LabelSelector
	if _, err := tree.Decode(tree.Get(r.Node(), "spec", "selector"), &s); err != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil || selector.Empty() {
		return nil
	}
	return selector
}
