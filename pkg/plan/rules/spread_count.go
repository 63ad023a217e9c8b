package rules

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Count is the status of the WorkloadSpread as the pods are now. Each version
// that has pods has counts of its own; the limits hold for each of them. The
// generation is left to the store.
func (s *Spread) Count() *kruise.WorkloadSpreadStatus {
	groups, versions := s.shares()
	conditions, _, _ := s.Reschedule()
	total := make([]int, len(s.Spec.Subsets))
	next := &kruise.WorkloadSpreadStatus{}
	for _, version := range versions {
		pods := make([]int, len(s.Spec.Subsets))
		for i := range pods {
			pods[i] = len(groups[share{version, i}])
			total[i] += pods[i]
		}
		if next.VersionedSubsetStatuses == nil {
			next.VersionedSubsetStatuses = map[string][]kruise.WorkloadSpreadSubsetStatus{}
		}
		next.VersionedSubsetStatuses[version] = s.statuses(pods, conditions)
	}
	next.SubsetStatuses = s.statuses(total, conditions)
	if s.Status != nil {
		next.ObservedGeneration = s.Status.ObservedGeneration
	}
	return next
}

// statuses are one entry per subset, with these numbers of pods.
func (s *Spread) statuses(pods []int, conditions []metav1.Condition) []kruise.WorkloadSpreadSubsetStatus {
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	out := make([]kruise.WorkloadSpreadSubsetStatus, len(limits))
	for i, limit := range limits {
		n := 0
		if pods != nil {
			n = pods[i]
		}
		out[i] = kruise.WorkloadSpreadSubsetStatus{
			Name: s.Spec.Subsets[i].Name, Replicas: int32(n), MissingReplicas: int32(spread.Missing(limit, n)),
		}
		if conditions != nil {
			out[i].Conditions = []metav1.Condition{conditions[i]}
		}
	}
	return out
}

// Full reports for each subset whether it has no room for one more pod of the
// version.
func (s *Spread) Full(version string) []bool {
	groups, _ := s.shares()
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	out := make([]bool, len(limits))
	for i, limit := range limits {
		out[i] = spread.Missing(limit, len(groups[share{version, i}])) == 0
	}
	return out
}

// SpreadCost is what a pod costs to delete: the lowest goes first.
type SpreadCost struct {
	Pod  *cluster.Pod
	Cost int
}

// Costs are the deletion costs of all pods that count, in the order of Pods; none
// where the target's kind does not heed them. They overwrite what a user has set.
func (s *Spread) Costs() []SpreadCost {
	if !s.costed() {
		return nil
	}
	groups, _ := s.shares()
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	costs := map[*cluster.Pod]int{}
	for key, pods := range groups {
		surplus := 0
		if key.subset != spread.None && limits[key.subset] != spread.Unlimited {
			surplus = max(len(pods)-limits[key.subset], 0)
		}
		within, beyond := s.costsOf(key)
		for i, p := range inOrder(pods) {
			if costs[p] = within; i < surplus {
				costs[p] = beyond
			}
		}
	}
	out := make([]SpreadCost, 0, len(costs))
	for _, p := range s.Pods {
		if cost, ok := costs[p]; ok {
			out = append(out, SpreadCost{p, cost})
		}
	}
	return out
}

// costsOf are the costs of pods within a subset's limit and beyond it. Those of
// an older version are mirrored, so that the first subset is emptied first.
func (s *Spread) costsOf(key share) (within, beyond int) {
	n, i := len(s.Spec.Subsets), key.subset
	if i == spread.None {
		return -100 * (n + 1), 0
	}
	if key.version != s.Latest {
		i = n - 1 - i
	}
	return 100 * (n - i), -100 * (i + 1)
}
