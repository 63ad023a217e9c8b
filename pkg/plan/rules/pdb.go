package rules

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DisruptionBudget is a PodDisruptionBudget with all that an eviction looks at.
// It guards against evictions only; deletions and updates pass it by.
type DisruptionBudget struct {
	Name string
	Spec *policyv1.PodDisruptionBudgetSpec
	// Expected is the sum of the replicas of the controllers of its pods.
	Expected int
	Pods     []*cluster.Pod
	Beyond   Beyond
	// Disrupted are the names recorded in the status.
	Disrupted []string
}

// Counts calculates the status as Kubernetes does: percentages are rounded up,
// and a number for minAvailable is of the pods that there are.
func (b *DisruptionBudget) Counts() BudgetCounts {
	n := BudgetCounts{Expected: b.Expected + b.Beyond.Expected}
	switch {
	case b.Spec.MaxUnavailable != nil:
		n.Desired = max(0, n.Expected-scaled(b.Spec.MaxUnavailable, n.Expected, true))
	case b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.Int:
		n.Expected, n.Desired = len(b.Pods)+b.Beyond.Expected, b.Spec.MinAvailable.IntValue()
	case b.Spec.MinAvailable != nil:
		n.Desired = scaled(b.Spec.MinAvailable, n.Expected, true)
	}
	n.Current = b.Beyond.Available + count(b.Pods, func(p *cluster.Pod) bool {
		return !p.Deleting && podReady(p) && !slices.Contains(b.Disrupted, p.Name)
	})
	if n.Expected > 0 {
		n.Allowed = max(0, n.Current-n.Desired)
	}
	return n
}

// Evict decides about one eviction. Pods that do not run yet, or not any more,
// go at once; a pod that is not ready goes while the budget is met, or always
// under AlwaysAllow.
func (b *DisruptionBudget) Evict(p *cluster.Pod) Verdict { return b.EvictAt(b.Counts(), p) }

// EvictAt is [DisruptionBudget.Evict] with the counts of a moment ago: evictions
// go by the status, whose every permit takes one from what it allows.
func (b *DisruptionBudget) EvictAt(n BudgetCounts, p *cluster.Pod) Verdict {
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	switch {
	case p.Deleting || p.Phase == corev1.PodPending || !Active(p):
		return Verdict{Allowed: true, Why: "the pod does not run"}
	case !podReady(p) && always:
		return Verdict{Allowed: true, Why: "the pod is not ready, and the budget lets such pods go"}
	case !podReady(p) && n.Current >= n.Desired && n.Desired > 0:
		return Verdict{Allowed: true, Why: "the pod is not ready, and the budget is met without it"}
	case n.Allowed == 0:
		return Verdict{Why: fmt.Sprintf("budget %s: %d pods are healthy, %d are wanted: %s waits", b.Name, n.Current, n.Desired, p.Name)}
	}
	return Verdict{Allowed: true, Record: true, Why: fmt.Sprintf("budget %s allows %d more", b.Name, n.Allowed-1)}
}
