package controller

import (
	"maps"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// evictionPermit is how long Kubernetes waits for an evicted pod to go before it
// counts it again.
const evictionPermit = 2 * time.Minute

// EvictionView is what Kubernetes' controller of a PodDisruptionBudget sees.
type EvictionView struct {
	Now time.Time
	// Budget holds the status as it was written last.
	Budget *policyv1.PodDisruptionBudget
	// Pods are those of the budget's namespace.
	Pods      []*cluster.Pod
	Workloads Workloads
	// Beyond is what the budget covers besides Pods.
	Beyond rules.Beyond
}

// ReconcileEvictions counts a PodDisruptionBudget. The status is nil when nothing
// changes; again is when the next permit ends, 0 when none is out.
func ReconcileEvictions(v *EvictionView) (status *policyv1.PodDisruptionBudgetStatus, again time.Duration) {
	covered := v.covered()
	now := v.Budget.Status.DeepCopy()
	now.ObservedGeneration, now.DisruptedPods = v.Budget.Generation, nil
	for _, p := range covered {
		given, ok := v.Budget.Status.DisruptedPods[p.Name]
		left := given.Add(evictionPermit).Sub(v.Now)
		if !ok || p.Deleting || left <= 0 {
			continue
		}
		now.DisruptedPods = with(now.DisruptedPods, p.Name, given)
		if again == 0 || left < again {
			again = left
		}
	}
	n := v.budget(covered, now).Counts()
	now.ExpectedPods, now.DesiredHealthy = int32(n.Expected), int32(n.Desired)
	now.CurrentHealthy, now.DisruptionsAllowed = int32(n.Current), int32(n.Allowed)
	status, _ = changed(&v.Budget.Status, now).(*policyv1.PodDisruptionBudgetStatus)
	return status, again
}

// covered returns the budget's pods; an empty selector means all.
func (v *EvictionView) covered() []*cluster.Pod {
	selector, err := metav1.LabelSelectorAsSelector(v.Budget.Spec.Selector)
	if err != nil {
		return nil
	}
	var out []*cluster.Pod
	for _, p := range v.Pods {
		if rules.Active(p) && selector.Matches(labels.Set(p.Labels)) {
			out = append(out, p)
		}
	}
	return out
}

func (v *EvictionView) budget(covered []*cluster.Pod, s *policyv1.PodDisruptionBudgetStatus) *rules.DisruptionBudget {
	return &rules.DisruptionBudget{
		Name: v.Budget.Name, Spec: &v.Budget.Spec, Pods: covered, Expected: v.expected(covered),
		Disrupted: slices.Sorted(maps.Keys(s.DisruptedPods)), Beyond: v.Beyond,
	}
}

// expected sums up over the distinct workloads of the pods.
func (v *EvictionView) expected(covered []*cluster.Pod) int {
	sum := 0
	seen := map[string]bool{}
	for _, p := range covered {
		if seen[p.Owner.UID] || p.Owner.Kind == "" || v.Workloads == nil {
			continue
		}
		seen[p.Owner.UID] = true
		w := v.Workloads(p.Namespace, p.Owner)
		if w == nil || seen[w.Kind+"/"+w.Name] {
			continue
		}
		seen[w.Kind+"/"+w.Name] = true
		sum += max(replicasOf(w), 0)
	}
	return sum
}

// Evict asks the budget, by its status, about one eviction. The second result is
// the status with the permit on record, nil when there is nothing to record.
func (v *EvictionView) Evict(p *cluster.Pod) (rules.Verdict, *policyv1.PodDisruptionBudgetStatus) {
	s := &v.Budget.Status
	verdict := v.budget(nil, s).EvictAt(rules.BudgetCounts{
		Expected: int(s.ExpectedPods), Desired: int(s.DesiredHealthy), Current: int(s.CurrentHealthy), Allowed: int(s.DisruptionsAllowed),
	}, p)
	if !verdict.Record {
		return verdict, nil
	}
	after := s.DeepCopy()
	after.DisruptionsAllowed--
	after.DisruptedPods = with(after.DisruptedPods, p.Name, metav1.Time{Time: v.Now.Truncate(time.Second)})
	return verdict, after
}
