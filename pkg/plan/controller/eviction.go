package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
	// OutsidePods is what the budget covers besides Pods.
	Beyond rules.OutsidePods
}

// ReconcileEvictions counts a PodDisruptionBudget. The status is nil when nothing
// changes; again is when the next permit ends, 0 when none is out.
func ReconcileEvictions(v *EvictionView) (status *policyv1.PodDisruptionBudgetStatus, again time.Duration) {
	covered := v.covered()
	now := v.Budget.Status.DeepCopy()
	now.ObservedGeneration = v.Budget.Generation
	now.DisruptedPods = valid(&again, v.Now, now.DisruptedPods, evictionPermit, staying(covered, len(now.DisruptedPods)))
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
	// Sum up over the distinct workloads of the pods.
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
	return &rules.DisruptionBudget{
		Name: v.Budget.Name, Spec: &v.Budget.Spec, Pods: covered, Expected: sum,
		Disrupted: slices.Sorted(maps.Keys(s.DisruptedPods)), Beyond: v.Beyond,
	}
}

// RecordEviction adds the permit to the status of a PodDisruptionBudget, in place as
// [Permit.Record] does.
func (p *Permit) RecordEviction(s *policyv1.PodDisruptionBudgetStatus) {
	s.DisruptionsAllowed--
	p.record(&s.DisruptedPods)
}

// Evict asks the budget, by its status, about one eviction. The second result is
// the permit to record, nil when there is nothing to record.
func (v *EvictionView) Evict(p *cluster.Pod) (rules.Verdict, *Permit) {
	s := &v.Budget.Status
	b := rules.DisruptionBudget{Name: v.Budget.Name, Spec: &v.Budget.Spec}
	verdict := b.Evict(rules.BudgetCounts{
		Expected: int(s.ExpectedPods), Desired: int(s.DesiredHealthy), Current: int(s.CurrentHealthy), Allowed: int(s.DisruptionsAllowed),
	}, p)
	if !verdict.Record {
		return verdict, nil
	}
	return verdict, &Permit{Pod: p.Name, Operation: kruise.PubEvictOperation, Given: metav1.Time{Time: v.Now.Truncate(time.Second)}}
}

// Guards are the budgets around one workload, as an observer knows them who sees that
// workload and its pods alone.
type Guards struct {
	Now         time.Time
	Unavailable []*kruise.PodUnavailableBudget
	Disruption  []*policyv1.PodDisruptionBudget
	// Pods are the workload's; those of a SidecarSet are in many namespaces.
	Pods      []*cluster.Pod
	Workloads Workloads
	// Reports are as in [View].
	Reports map[string]rules.NodeReport
}

// Rules returns the budgets that cover one of the pods: those of Kruise, those which
// a PodDisruptionBudget was rendered from, and PodDisruptionBudgets themselves. What
// they cover of other workloads is read off their status.
func (g *Guards) Rules() (budgets []*rules.Budget, disruptions []*rules.DisruptionBudget, err error) {
	pods := map[string][]*cluster.Pod{}
	for _, p := range g.Pods {
		pods[p.Namespace] = append(pods[p.Namespace], p)
	}
	own, rendered, err := g.unavailable()
	for i, b := range slices.Concat(own, rendered) {
		v := &BudgetView{Now: g.Now, Budget: b, Pods: pods[b.Namespace], Workloads: g.Workloads, Reports: g.Reports}
		if r := v.Rules(); len(r.Pods) > 0 {
			r.Beyond, r.Rendered = v.beyond(r), i >= len(own)
			budgets = append(budgets, r)
		}
	}
	for _, b := range g.Disruption {
		v := &EvictionView{Now: g.Now, Budget: b, Pods: pods[b.Namespace], Workloads: g.Workloads}
		if r := v.Rules(); len(r.Pods) > 0 {
			r.Beyond = v.beyond(r)
			disruptions = append(disruptions, r)
		}
	}
	return budgets, disruptions, err
}

// OwnedBy knows one workload: by the uids of its pods' controllers, and by its name.
func OwnedBy(w *cluster.Workload, uids map[string]bool) Workloads {
	return func(namespace string, owner cluster.Owner) *cluster.Workload {
		if namespace == w.Namespace && (uids[owner.UID] || owner.UID == "" && owner.Kind == w.Kind && owner.Name == w.Name) {
			return w
		}
		return nil
	}
}

// unavailable are Kruise's budgets, and those that were rendered.
func (g *Guards) unavailable() (own, rendered []*kruise.PodUnavailableBudget, err error) {
	seen := map[string]bool{}
	for _, b := range g.Unavailable {
		filled := *b
		kruise.Default(&filled)
		own, seen[b.Namespace+"/"+b.Name] = append(own, &filled), true
	}
	for _, d := range g.Disruption {
		b, broken := Rendered(d)
		switch {
		case broken != nil:
			err = broken
		case b != nil && !seen[b.Namespace+"/"+b.Name]:
			rendered = append(rendered, b)
		}
	}
	return own, rendered, err
}

// Rendered returns the PodUnavailableBudget that a PodDisruptionBudget was rendered
// from, nil for any other: its spec is in an annotation (docs/drivers.md). Its counts
// are those of the PodDisruptionBudget.
func Rendered(d *policyv1.PodDisruptionBudget) (*kruise.PodUnavailableBudget, error) {
	text, kept := d.Annotations[kruise.StrategyAnnotation]
	if !kept || !strings.HasPrefix(d.Labels[kruise.SourceLabel], "podunavailablebudget.") {
		return nil, nil //nolint:nilnil // another request is not an error
	}
	b := &kruise.PodUnavailableBudget{}
	if err := json.Unmarshal([]byte(text), &b.Spec); err != nil {
		return nil, fmt.Errorf("PodDisruptionBudget %s: annotation %s holds no spec of a PodUnavailableBudget: %w", d.Name, kruise.StrategyAnnotation, err)
	}
	b.Namespace, b.Name, b.Generation = d.Namespace, d.Name, d.Generation
	b.Status.ObservedGeneration = d.Status.ObservedGeneration
	b.Status.TotalReplicas, b.Status.CurrentAvailable = d.Status.ExpectedPods, d.Status.CurrentHealthy
	kruise.Default(b)
	return b, nil
}

// beyond is what the status counts more than the pods that are seen. A target's pods
// are all seen.
func (v *BudgetView) beyond(r *rules.Budget) rules.OutsidePods {
	s := &v.Budget.Status
	if s.ObservedGeneration != v.Budget.Generation || v.Budget.Spec.TargetReference != nil {
		return rules.OutsidePods{}
	}
	return beyond(r.Pods, r.Expected, int(s.TotalReplicas), int(s.CurrentAvailable))
}

func (v *EvictionView) beyond(r *rules.DisruptionBudget) rules.OutsidePods {
	s := &v.Budget.Status
	if s.ObservedGeneration != v.Budget.Generation {
		return rules.OutsidePods{}
	}
	return beyond(r.Pods, r.Expected, int(s.ExpectedPods), int(s.CurrentHealthy))
}

// beyond takes all pods that are seen for available in the status, which may be older
// than what is seen of them: better too slow than below a budget.
func beyond(seen []*cluster.Pod, replicas, expected, available int) rules.OutsidePods {
	running := 0
	for _, p := range seen {
		if p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed {
			running++
		}
	}
	return rules.OutsidePods{Expected: max(0, expected-replicas), Available: max(0, available-max(running, replicas))}
}
