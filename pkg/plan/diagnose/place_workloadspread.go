package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Spread compares a WorkloadSpread with the pods of its target
// (docs/kruise/distribution.md#workloadspread).
func Spread(ws *kruise.WorkloadSpread, target *tree.Node, pods []*cluster.Pod) (*Placement, error) {
	filter := ws.Spec.TargetFilter
	var paths []string
	if filter != nil {
		paths = filter.ReplicasPathList
	}
	replicas, err := spread.Replicas(target, paths)
	if err != nil {
		return nil, err
	}
	p := &Placement{
		Object: "workloadspread/" + ws.Name, Namespace: ws.Namespace, Replicas: replicas,
		Target:   strings.ToLower(ws.Spec.TargetReference.Kind) + "/" + ws.Spec.TargetReference.Name,
		Strategy: string(cmp.Or(ws.Spec.ScheduleStrategy.Type, kruise.FixedWorkloadSpreadScheduleStrategyType)),
	}
	p.fill(ws, target, pods)
	if filter != nil && filter.Selector == nil {
		p.Why = append(p.Why, "targetFilter has no selector: new pods are put into no subset")
	}
	p.explain(ws, pods)
	return p, nil
}

// fill adds the subsets with their pods, and what is in none where there is any.
func (p *Placement) fill(ws *kruise.WorkloadSpread, target *tree.Node, pods []*cluster.Pod) {
	wishes, rest := wantedPods(&ws.Spec, target, p.Replicas)
	for i, s := range ws.Spec.Subsets {
		p.Subsets = append(p.Subsets, Subset{Name: s.Name, Limits: limitText(s.MaxReplicas), Wish: wishes[i]})
	}
	none := Subset{Name: Outside, Wish: rest}
	rule := &rules.Spread{Name: ws.Name, Spec: &ws.Spec, Status: &ws.Status, Replicas: p.Replicas, Pods: pods}
	for _, pod := range pods {
		switch i := rule.SubsetOf(pod); {
		case !rules.Active(pod):
		case i == spread.None:
			none.add(pod)
		default:
			p.Subsets[i].add(pod)
		}
	}
	if len(none.Pods) > 0 || rest > 0 {
		p.Subsets = append(p.Subsets, none)
	}
}

// wantedPods are how many pods each subset should have; rest is how many no subset takes.
func wantedPods(spec *kruise.WorkloadSpreadSpec, target *tree.Node, replicas int) (counts []int, rest int) {
	limits := spread.Limits(spec.Subsets, replicas)
	if tree.StrAt(target, "kind") != kruise.KindStatefulSet {
		return spread.Fill(limits, replicas)
	}
	start, _ := tree.Int(tree.Get(target, "spec", "ordinals", "start"))
	var reserved []intstr.IntOrString
	for _, n := range tree.Items(tree.Get(target, "spec", "reserveOrdinals")) {
		reserved = append(reserved, intstr.Parse(tree.Str(n)))
	}
	shares, left := spread.FillOrdinals(limits, rules.Ordinals(int(start), replicas, reserved))
	for _, share := range shares {
		counts = append(counts, len(share))
	}
	return counts, len(left)
}

// limitText is a limit as it is written, "" for none.
func limitText(v *intstr.IntOrString) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// explain reports why subsets have other numbers of pods than they should have.
func (p *Placement) explain(ws *kruise.WorkloadSpread, pods []*cluster.Pod) {
	// The subsets that new pods pass by, and since when.
	closed := map[string]string{}
	for _, s := range ws.Status.SubsetStatuses {
		i := slices.IndexFunc(s.Conditions, func(c metav1.Condition) bool { return c.Type == "Schedulable" })
		if i >= 0 && s.Conditions[i].Status == metav1.ConditionFalse {
			closed[s.Name] = s.Conditions[i].LastTransitionTime.UTC().Format("2006-01-02 15:04:05Z")
		}
	}

	rolling := len(pods) > 0 && p.pods() > p.Replicas
	for i := range p.Subsets {
		s := &p.Subsets[i]
		have := len(s.Pods)
		if since, ok := closed[s.Name]; ok {
			s.Why = append(s.Why, "taken as unschedulable since "+since+": new pods go to later subsets")
		}
		switch {
		case s.Name == Outside:
			s.Why = append(s.Why, noSubsetNote(s, have))
		case have > s.Wish && rolling:
			s.Why = append(s.Why, counted.With(have-s.Wish, "pod", "pods")+" too many, while the workload has more pods than it should")
		case have > s.Wish:
			s.Why = append(s.Why, counted.With(have-s.Wish, "pod", "pods")+" more: running pods are not moved, the next scale-in takes them first")
		case have < s.Wish && p.pods() < p.Replicas:
			s.Why = append(s.Why, counted.With(s.Wish-have, "pod", "pods")+" fewer: the workload has "+strconv.Itoa(p.pods())+" of "+strconv.Itoa(p.Replicas)+" pods")
		case have < s.Wish:
			s.Why = append(s.Why, counted.With(s.Wish-have, "pod", "pods")+" fewer: they are in other subsets, and running pods are not moved")
		}
		s.addUnschedulable()
	}
}

// noSubsetNote reports why pods are in no subset.
func noSubsetNote(s *Subset, have int) string {
	switch {
	case have == 0:
		return fmt.Sprintf("no subset has room for %s", counted.With(s.Wish, "pod", "pods"))
	case s.Wish > 0:
		return "no subset has room: these pods get nothing of any"
	}
	return "created before the WorkloadSpread, or while no subset had room; their nodes fit none, or they wait for one"
}
