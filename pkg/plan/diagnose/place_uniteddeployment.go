package diagnose

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// United compares a UnitedDeployment with its workloads and their pods
// (docs/kruise/distribution.md#which-allocator).
func United(ud *kruise.UnitedDeployment, workloads []*tree.Node, pods []*cluster.Pod) (*Placement, error) {
	strategy := ud.Spec.Topology.ScheduleStrategy
	in := spread.Allocation{Replicas: ud.Spec.Replicas, Adaptive: strategy.Type == kruise.AdaptiveUnitedDeploymentScheduleStrategyType}
	in.Reserve = strategy.Adaptive != nil && strategy.Adaptive.ReserveUnschedulablePods
	p := &Placement{
		Object: "uniteddeployment/" + ud.Name, Namespace: ud.Namespace,
		Strategy: string(cmp.Or(strategy.Type, kruise.FixedUnitedDeploymentScheduleStrategyType)),
	}
	for _, s := range ud.Spec.Topology.Subsets {
		// What allocation asks of a subset's workload.
		name := s.Name
		var state spread.SubsetState
		if w := workloadOf(name, workloads); w != nil {
			state.Current = number(tree.Get(w, "spec", "replicas"), 1)
			state.Ready = number(tree.Get(w, "status", "readyReplicas"), 0)
		}
		for _, s := range ud.Status.SubsetStatuses {
			if s.Name == name {
				state.Reserved = s.ReservedPods
				state.Unschedulable = slices.ContainsFunc(s.Conditions, func(c kruise.UnitedDeploymentCondition) bool {
					return strings.HasSuffix(c.Type, "Schedulable") && c.Status == corev1.ConditionFalse
				})
			}
		}

		in.Subsets = append(in.Subsets, spread.Subset{Name: s.Name, Replicas: s.Replicas, Min: s.MinReplicas, Max: s.MaxReplicas, SubsetState: state})
		out := Subset{Name: s.Name, Limits: limits(s)}
		if state.Unschedulable {
			out.Why = append(out.Why, "taken as unschedulable: it keeps what is ready and gets no more")
		}
		p.Subsets = append(p.Subsets, out)
	}
	counts, err := spread.Allocate(in)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		p.Subsets[i].Wish = int(n)
		p.Replicas += int(n)
	}
	if ud.Spec.Replicas != nil {
		if left := int(*ud.Spec.Replicas) - p.Replicas; left > 0 {
			p.Why = append(p.Why, counted.With(left, "pod", "pods")+" of spec.replicas fit into no subset")
		}
		p.Replicas = int(*ud.Spec.Replicas)
	}
	p.count(pods)
	p.allocated(in.Subsets, workloads)
	return p, nil
}

// limits are a subset's replicas as they are written.
func limits(s kruise.Subset) string {
	switch {
	case s.Replicas != nil:
		return s.Replicas.String()
	case s.MinReplicas != nil || s.MaxReplicas != nil:
		return limitText(s.MinReplicas) + ".." + limitText(s.MaxReplicas)
	}
	return ""
}

// count puts pods into their subsets by the label that their workload gives them.
func (p *Placement) count(pods []*cluster.Pod) {
	none := Subset{Name: Outside}
	for _, pod := range pods {
		if !rules.Active(pod) {
			continue
		}
		i := slices.IndexFunc(p.Subsets, func(s Subset) bool { return s.Name == pod.Labels[kruise.SubsetNameLabel] })
		if i < 0 {
			none.add(pod)
			continue
		}
		p.Subsets[i].add(pod)
	}
	if len(none.Pods) > 0 {
		none.Why = []string{"of a subset that is no longer there, or of something else that the selector matches"}
		p.Subsets = append(p.Subsets, none)
	}
}

// allocated reports how far a subset is from the number that it should have.
func (p *Placement) allocated(subsets []spread.Subset, workloads []*tree.Node) {
	for i := range subsets {
		s, now := &p.Subsets[i], subsets[i].Current
		switch have := len(s.Pods); {
		case workloadOf(s.Name, workloads) == nil:
			s.Why = append(s.Why, "its workload is not there yet")
		case int(now) != s.Wish:
			s.Why = append(s.Why, "its workload still has "+counted.With(int(now), "replica", "replicas"))
		case have < s.Wish:
			s.Why = append(s.Why, counted.With(s.Wish-have, "pod is", "pods are")+" not created yet")
		case have > s.Wish:
			s.Why = append(s.Why, counted.With(have-s.Wish, "pod", "pods")+" too many, while its workload has more pods than it should")
		}
		s.addUnschedulable()
	}
}

func workloadOf(subset string, workloads []*tree.Node) *tree.Node {
	i := slices.IndexFunc(workloads, func(n *tree.Node) bool {
		return tree.StrAt(n, "metadata", "labels", kruise.SubsetNameLabel) == subset
	})
	if i < 0 {
		return nil
	}
	return workloads[i]
}

// number returns a count of pods as a text, or a placeholder if it is unknown.
func number(n *tree.Node, missing int32) int32 {
	v, ok := tree.Int(n)
	if !ok || v < 0 || v > 1<<30 {
		return missing
	}
	return int32(v)
}
