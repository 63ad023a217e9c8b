package controller

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// How long a permit stays on a budget's record (docs/kruise/protection.md#podunavailablebudget),
// counted from the whole second it was given in.
const (
	updatePermit     = 10 * time.Second
	disruptionPermit = 20 * time.Second
)

// Workloads finds the workload that a pod ends up with, given its controller:
// the Deployment, not its ReplicaSet. It returns nil for one that is not known.
type Workloads func(namespace string, owner cluster.Owner) *cluster.Workload

// BudgetView is what the controller of a PodUnavailableBudget, and the webhook
// that asks it, see.
type BudgetView struct {
	Now time.Time
	// Budget holds the status as it was written last.
	Budget *kruise.PodUnavailableBudget
	// Pods are those of the budget's namespace.
	Pods []*cluster.Pod
	// Tally is what is there to be counted, where a caller keeps count; nil has
	// every pod looked at.
	Tally     *Tally
	Workloads Workloads
	// SidecarSets are all there are: a pod whose sidecars are being upgraded does
	// not count.
	SidecarSets []*cluster.Workload
	// Reports are as in [View].
	Reports map[string]rules.NodeReport
	// VerticalScaling is the cluster's gate InPlacePodVerticalScaling.
	VerticalScaling bool
	// OutsidePods is what the budget covers besides Pods.
	Beyond rules.OutsidePods

	// injected are the rules of SidecarSets, read when they are first asked.
	injected map[string]*rules.SidecarSet
}

// BudgetPass is what one pass of a budget's controller does.
type BudgetPass struct {
	// Status is the new one; nil when nothing changes.
	Status *kruise.PodUnavailableBudgetStatus
	// Relate are pods that still need the annotations which name their budget.
	Relate []*cluster.Pod
	// RequeueAfter is when the next permit ends, counted from now; 0 when none is out.
	RequeueAfter time.Duration
}

// ReconcileBudget makes one pass: it counts, and drops permits whose time is over
// or whose pod goes anyway (docs/kruise/protection.md#podunavailablebudget and
// docs/kruise/sidecarset.md#observed-on-a-cluster).
func ReconcileBudget(v *BudgetView) BudgetPass {
	if !v.NeedsPods() {
		return v.counted(v.Tally.stays, v.Tally.expected(v), v.Tally.current)
	}
	covered, expected := v.covered()
	permits := len(v.Budget.Status.DisruptedPods) + len(v.Budget.Status.UnavailablePods)
	pass := v.counted(staying(covered, permits), expected, func(b *rules.Budget) int {
		b.Pods = covered
		return b.Counts().Current
	})
	for _, p := range covered {
		if !p.Deleting && p.RelatedBudget() == "" {
			pass.Relate = append(pass.Relate, p)
		}
	}
	return pass
}

// NeedsPods reports whether [ReconcileBudget] looks at the pods: a tally suffices, unless a pod does not
// name its budget yet.
func (v *BudgetView) NeedsPods() bool { return v.Tally == nil || v.Tally.Unrelated > 0 }

// counted returns the status: stays reports whether a pod of a name exists and is not about to be
// deleted, current is how many pods the budget counts.
func (v *BudgetView) counted(stays func(name string) bool, expected int, current func(*rules.Budget) int) BudgetPass {
	var pass BudgetPass
	status := v.Budget.Status
	status.ObservedGeneration = v.Budget.Generation
	status.DisruptedPods = valid(&pass.RequeueAfter, v.Now, status.DisruptedPods, disruptionPermit, stays)
	status.UnavailablePods = valid(&pass.RequeueAfter, v.Now, status.UnavailablePods, updatePermit, stays)
	b := v.budget(nil, expected, &status)
	n := b.CountsOf(current(b))
	status.TotalReplicas, status.DesiredAvailable = int32(n.Expected), int32(n.Desired)
	status.CurrentAvailable, status.UnavailableAllowed = int32(n.Current), int32(n.Allowed)
	pass.Status, _ = changed(&v.Budget.Status, &status).(*kruise.PodUnavailableBudgetStatus)
	return pass
}

// staying reports which of the pods are not about to go, by name. Without permits it is not asked.
func staying(covered []*cluster.Pod, permits int) func(name string) bool {
	names := map[string]bool{}
	if permits > 0 {
		for _, p := range covered {
			if !p.Deleting {
				names[p.Name] = true
			}
		}
	}
	return func(name string) bool { return names[name] }
}

// valid returns the permits that stay, nil for none; again is when the next of them ends.
func valid(again *time.Duration, now time.Time, permits map[string]metav1.Time, lasts time.Duration, stays func(name string) bool) map[string]metav1.Time {
	var out map[string]metav1.Time
	for name, given := range permits {
		left := given.Add(lasts).Sub(now)
		if left <= 0 || !stays(name) {
			continue
		}
		if out == nil {
			out = map[string]metav1.Time{}
		}
		out[name] = given
		if *again == 0 || left < *again {
			*again = left
		}
	}
	return out
}

func (v *BudgetView) budget(covered []*cluster.Pod, expected int, s *kruise.PodUnavailableBudgetStatus) *rules.Budget {
	b := v.rule(expected)
	b.Pods = covered
	b.Disrupted, b.Unavailable = slices.Collect(maps.Keys(s.DisruptedPods)), slices.Collect(maps.Keys(s.UnavailablePods))
	return b
}

// rule is the budget without pods and records.
func (v *BudgetView) rule(expected int) *rules.Budget {
	return &rules.Budget{
		Name: v.Budget.Name, Spec: &v.Budget.Spec, Expected: expected, VerticalScaling: v.VerticalScaling, Beyond: v.Beyond, Busy: v,
	}
}

// Updating reports whether something of the pod is still being updated.
func (v *BudgetView) Updating(p *cluster.Pod) bool {
	if !reopened(p) && !rules.InPlacePending(p, reportOn(v.Reports, p)).Done() {
		return true
	}
	if len(v.SidecarSets) == 0 {
		return false
	}
	if v.injected == nil {
		v.injected = make(map[string]*rules.SidecarSet, len(v.SidecarSets))
		for _, w := range v.SidecarSets {
			if set, ok := w.Object.(*kruise.SidecarSet); ok {
				v.injected[w.Name] = SidecarSetRules(w, set, kruise.Release{})
			}
		}
	}
	for _, name := range injectedSets(p) {
		if set := v.injected[name]; set != nil && !set.Complete(p) {
			return true
		}
	}
	return false
}

// reopened reports whether the pod's controller has found its in-place update
// complete: it shuts the readiness gate before the update and opens it after it,
// but for one of resources alone. It saves reading the record of every pod in
// every pass.
func reopened(p *cluster.Pod) bool {
	return p.GateOpen() && slices.Contains(p.ReadinessGates, kruise.InPlaceUpdateReady) &&
		!strings.Contains(p.InPlaceRecord(), "updateResources")
}

// Permit is what a budget records when it lets a pod go: the status has one entry more for
// it. A decision only returns it, so the status that it was made by stays as it is.
type Permit struct {
	// Pod is the name of the pod, Operation what may happen to it.
	Pod       string
	Operation kruise.PubOperation
	// Given is the whole second of the decision.
	Given metav1.Time
}

// Record adds the permit to the status of a PodUnavailableBudget. It changes the maps of the
// status in place, because a copy for each of many permits costs their square: the caller
// must be the only one that holds them.
func (p *Permit) Record(s *kruise.PodUnavailableBudgetStatus) {
	s.UnavailableAllowed--
	if p.Operation == kruise.PubUpdateOperation {
		p.record(&s.UnavailablePods)
	} else {
		p.record(&s.DisruptedPods)
	}
}

func (p *Permit) record(permits *map[string]metav1.Time) {
	if *permits == nil {
		*permits = map[string]metav1.Time{}
	}
	(*permits)[p.Pod] = p.Given
}

// Decide asks the budget about one operation on a pod, by its status, as the
// webhook does. The second result is the permit to record, nil when there is
// nothing to record. A nil view is for a pod whose budget is gone.
func (v *BudgetView) Decide(r rules.Request) (rules.Verdict, *Permit) {
	if v == nil {
		return (*rules.Budget)(nil).Decide(rules.BudgetCounts{}, r), nil
	}
	s := v.Budget.Status
	n := rules.BudgetCounts{
		Expected: int(s.TotalReplicas), Desired: int(s.DesiredAvailable),
		Current: int(s.CurrentAvailable), Allowed: int(s.UnavailableAllowed),
	}
	b := v.rule(n.Expected)
	b.Records = &s // and no lists of names: there are many of them, and a question for each
	verdict := b.Decide(n, r)
	if !verdict.Record {
		return verdict, nil
	}
	return verdict, &Permit{Pod: r.Pod.Name, Operation: r.Operation, Given: metav1.Time{Time: v.Now.Truncate(time.Second)}}
}

// Harmless reports whether a budget does not guard against an update of a pod: the spec stays, and
// no label newly makes the pod unavailable.
func Harmless(before, after *cluster.Pod) bool {
	return sameSpec(before.Containers, after.Containers) && sameSpec(before.InitContainers, after.InitContainers) &&
		(rules.HoldsUnavailable(before) || !rules.HoldsUnavailable(after))
}

// sameSpec compares what of containers is spec and can change.
func sameSpec(a, b []cluster.Container) bool {
	return slices.EqualFunc(a, b, func(x, y cluster.Container) bool { return x.Name == y.Name && x.Image == y.Image })
}

// budgetFinder finds the budget of a pod without asking all that there are.
type budgetFinder struct {
	budgets []*kruise.PodUnavailableBudget
	// covers are compiled when they are first asked.
	covers   []*coverage
	labelled *kruise.SelectorIndex
}

func newBudgetFinder(budgets []*kruise.PodUnavailableBudget) *budgetFinder {
	list := make([]labels.Selector, len(budgets))
	for i, b := range budgets {
		if list[i] = selectorOf(b.Spec.Selector); b.Spec.TargetReference != nil {
			list[i] = labels.Everything() // the labels say nothing
		}
	}
	return &budgetFinder{budgets, make([]*coverage, len(budgets)), kruise.NewSelectorIndex(list)}
}

// of names the first budget of a pod; it is empty without one.
func (f *budgetFinder) of(n PodRequest) string {
	for _, place := range f.labelled.Candidates(n.Labels) {
		b := f.budgets[place]
		if b.Namespace != n.Namespace {
			continue
		}
		if f.covers[place] == nil {
			f.covers[place] = covering(b)
		}
		if f.covers[place].covers(n.Labels, n.Owner) {
			return b.Name
		}
	}
	return ""
}

// budgetOf names the budget of a pod that is created; it is empty without one.
func (a *Admission) budgetOf(n PodRequest) string {
	if a.budgets == nil {
		a.budgets = newBudgetFinder(a.Budgets)
	}
	return a.budgets.of(n)
}

// coverage is which pods a budget is for: those of a target, or those with some labels.
type coverage struct {
	target, selects bool
	owner           cluster.Ref
	labels          map[string]string
	selector        labels.Selector
}

func covering(b *kruise.PodUnavailableBudget) *coverage {
	if t := b.Spec.TargetReference; t != nil {
		version, err := schema.ParseGroupVersion(t.APIVersion)
		return &coverage{target: true, selects: err == nil, owner: cluster.Ref{Group: version.Group, Kind: t.Kind, Name: t.Name}}
	}
	if s := b.Spec.Selector; s != nil && len(s.MatchExpressions) == 0 && len(s.MatchLabels) > 0 {
		return &coverage{labels: s.MatchLabels}
	}
	return &coverage{selector: selectorOf(b.Spec.Selector)}
}

// covers reports whether the budget is for a pod with some labels, whose workload is owner.
func (c *coverage) covers(own map[string]string, owner cluster.Ref) bool {
	switch {
	case c.target:
		return c.selects && owner.Group == c.owner.Group && owner.Kind == c.owner.Kind && owner.Name == c.owner.Name
	case c.labels != nil:
		return holds(own, c.labels)
	}
	return c.selector.Matches(labels.Set(own))
}

// holds reports whether all wanted labels are there: a compiled selector returns the same at ten
// times the cost, for every pod in every pass.
func holds(own, want map[string]string) bool {
	for k, v := range want {
		if have, ok := own[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// selectorOf compiles a selector; an empty or unreadable one matches nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing()
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return compiled
}

// covered returns the budget's pods, and how many it expects.
func (v *BudgetView) covered() (list []*cluster.Pod, expected int) {
	coverage := covering(v.Budget)
	var owners []*cluster.Workload
	var owner *cluster.Workload
	var last cluster.Owner
	for i, p := range v.Pods {
		if i == 0 || p.Owner != last {
			owner, last = v.owner(p), p.Owner
		}
		var ref cluster.Ref
		if owner != nil {
			ref = owner.Ref
		}
		if coverage.covers(p.Labels, ref) {
			list = append(list, p)
			if p.Owner.Kind != "" && (len(owners) == 0 || owners[len(owners)-1] != owner) {
				owners = append(owners, owner)
			}
		}
	}
	return list, v.expected(owners)
}

func (v *BudgetView) owner(p *cluster.Pod) *cluster.Workload {
	if p.Owner.Kind == "" || v.Workloads == nil {
		return nil
	}
	// A native workload under the name of the target that it was rendered from.
	w := v.Workloads(p.Namespace, p.Owner)
	t := v.Budget.Spec.TargetReference
	if w == nil || t == nil || w.Labels[kruise.SourceLabel] != kruise.SourceValue(t.Kind, t.Name) {
		return w
	}
	out := *w
	version, _ := schema.ParseGroupVersion(t.APIVersion)
	out.Ref = cluster.Ref{Group: version.Group, Kind: t.Kind, Namespace: w.Namespace, Name: t.Name}
	return &out
}

// expected sums up over the distinct workloads; one that cannot be scaled counts
// -1, which voids a maxUnavailable. owners are nil where they are not known.
func (v *BudgetView) expected(owners []*cluster.Workload) int {
	if t := v.Budget.Spec.TargetReference; t != nil {
		for _, w := range owners {
			if w != nil && w.Kind == t.Kind && w.Name == t.Name {
				return replicasOf(w)
			}
		}
		if v.Workloads == nil {
			return 0
		}
		w := v.Workloads(v.Budget.Namespace, cluster.Owner{Kind: t.Kind, Name: t.Name})
		if w == nil {
			return 0
		}
		return replicasOf(w)
	}
	sum := 0
	seen := map[cluster.Ref]bool{}
	for _, w := range owners {
		var ref cluster.Ref
		if w != nil {
			ref = w.Ref
		}
		if !seen[ref] {
			seen[ref] = true
			sum += replicasOf(w)
		}
	}
	return sum
}

// replicasOf is spec.replicas, or -1 for what has none.
func replicasOf(w *cluster.Workload) int {
	if w == nil {
		return -1
	}
	n, ok := cluster.Of(w.Object).Replicas()
	if !ok {
		return -1
	}
	return n
}

// Rules returns the current budget with the pods that it covers.
func (v *BudgetView) Rules() *rules.Budget {
	var b *rules.Budget
	if t := v.Tally; t != nil && t.Covered == len(v.Pods) {
		b = v.budget(slices.Clone(v.Pods), t.expected(v), &v.Budget.Status)
		b.Steadies = new(t.current(b))
	} else {
		covered, expected := v.covered()
		b = v.budget(covered, expected, &v.Budget.Status)
	}
	slices.Sort(b.Disrupted)
	slices.Sort(b.Unavailable)
	return b
}

// Rules returns the current budget with the pods that it covers.
func (v *EvictionView) Rules() *rules.DisruptionBudget {
	return v.budget(v.covered(), &v.Budget.Status)
}
