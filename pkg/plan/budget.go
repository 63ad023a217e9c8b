package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// blockedByBudget names the budget that keeps the controller from the next pod, if any; never
// is true for one that never allows a pod to become unavailable. It answers as [Look] does, and asks only which pods
// are next: it is called at every decision of a rollout.
func (r *run) blockedByBudget() (list []Blocker, never bool) {
	if len(r.snap.enforcedBudgets(r.plan.Driver)) == 0 || r.plan.Driver != DriverKruise {
		return nil, false
	}
	b, ok := presentBuilder(*r.snap)
	if !ok {
		return nil, false
	}
	guard, k := b.guard(), kindOf(b.present.Object)
	if guard.allowsAny(k.mostNext(&b.comparison)) {
		return nil, false
	}
	for _, p := range k.choice(&b.comparison, r.now, true).Pods {
		if why, ok := guard.Budget(p); !ok {
			return []Blocker{{Gate: GateBudget, Pod: p.Name, Why: why}}, guard.BudgetNever(p)
		}
	}
	return nil, false
}

// budgetGuard asks the budgets about updates of pods.
type budgetGuard struct {
	driver  Driver
	modes   modes
	tracker *budgetTracker
	snap    *Snapshot
}

// guard asks the budgets that count for the driver.
func (b *comparison) guard() budgetGuard {
	return budgetGuard{driver: b.plan.Driver, modes: b.modes, tracker: b.snap.budgetTracker(b.snap.enforcedBudgets(b.plan.Driver)), snap: &b.snap}
}

// allowsAny reports whether no budget can refuse updates of a number of pods, whichever they are.
func (g *budgetGuard) allowsAny(pods int) bool {
	for _, b := range g.tracker.budgets {
		if !b.AllowsAny(*g.tracker.unavailableCounts(b), pods) {
			return false
		}
	}
	return true
}

// Budget asks the budgets that cover a pod whether an update of it could begin now;
// why names the budget that does not allow it.
func (g *budgetGuard) Budget(p *cluster.Pod) (why string, ok bool) {
	op := g.operation(p)
	if !g.snap.asksBudgets(g.driver, op) {
		return g.unaskedAnswer(p, op)
	}
	if why, ok = g.tracker.allow(p, op); !ok || g.driver != DriverClient || op == kruise.PubUpdateOperation {
		return why, ok
	}
	return g.tracker.evict(p)
}

// operation is what budgets are asked about when a pod is updated.
func (g *budgetGuard) operation(p *cluster.Pod) kruise.PubOperation {
	if mode, _ := g.Mode(p); mode == rules.ModeRecreate {
		return kruise.PubDeleteOperation
	}
	return kruise.PubUpdateOperation
}

// updateGate has Kruise ask PodUnavailableBudgets before it updates a pod in place.
const updateGate = "PodUnavailableBudgetUpdateGate"

// unaskedAnswer is the answer for an update without a check of budgets by Kruise, as far as its
// feature gates are known.
func (g *budgetGuard) unaskedAnswer(p *cluster.Pod, op kruise.PubOperation) (why string, ok bool) {
	if g.snap.GatesUnread == "" {
		return "", true
	}
	if why, ok = g.tracker.allow(p, op); !ok {
		why += ", if " + updateGate + " is on: Kruise's feature gates cannot be read"
	}
	return why, ok
}

// BudgetNever reports whether a budget that covers a pod wants all its pods available, so
// that it never allows an update: waiting does not help then.
func (g *budgetGuard) BudgetNever(p *cluster.Pod) bool {
	op := g.operation(p)
	if !g.snap.asksBudgets(g.driver, op) {
		return false
	}
	if slices.ContainsFunc(g.tracker.budgets, func(b *rules.Budget) bool {
		return slices.ContainsFunc(b.Pods, samePod(p)) && neverAllows(b.Counts())
	}) {
		return true
	}
	return g.driver == DriverClient && op != kruise.PubUpdateOperation && slices.ContainsFunc(g.tracker.disruptions, func(b *rules.DisruptionBudget) bool {
		return slices.ContainsFunc(b.Pods, samePod(p)) && neverAllows(b.Counts())
	})
}

// asksBudgets reports whether Kruise asks budgets before an operation on a pod; a client always
// does.
func (s *Snapshot) asksBudgets(d Driver, op kruise.PubOperation) bool {
	return d == DriverClient || op != kruise.PubUpdateOperation || s.Gates.GuardUpdates
}

// Mode reports what an update does to a pod, and why.
func (g *budgetGuard) Mode(p *cluster.Pod) (rules.UpdateMode, string) { return g.modes.of(p) }

// neverAllows reports whether a budget wants all its pods available.
func neverAllows(n rules.BudgetCounts) bool {
	return n.Allowed == 0 && n.Desired != 0 && n.Desired >= n.Expected
}

// budgetTracker asks budgets on behalf of the client, and remembers what one decision
// has used of them.
type budgetTracker struct {
	budgets     []*rules.Budget
	disruptions []*rules.DisruptionBudget
	counts      map[string]*rules.BudgetCounts
}

func newBudgetTracker(s *Snapshot) *budgetTracker { return s.budgetTracker(s.Budgets) }

func (s *Snapshot) budgetTracker(budgets []*rules.Budget) *budgetTracker {
	return &budgetTracker{budgets: budgets, disruptions: s.Disruptions, counts: map[string]*rules.BudgetCounts{}}
}

// enforcedBudgets are the PodUnavailableBudgets that are asked when a driver has pods
// replaced: one that was rendered is asked by the client alone.
func (s *Snapshot) enforcedBudgets(d Driver) []*rules.Budget {
	if d == DriverClient {
		return s.Budgets
	}
	var out []*rules.Budget
	for _, b := range s.Budgets {
		if !b.Rendered {
			out = append(out, b)
		}
	}
	return out
}

func (l *budgetTracker) countsOf(name string, count func() rules.BudgetCounts) *rules.BudgetCounts {
	n := l.counts[name]
	if n == nil {
		n = new(count())
		l.counts[name] = n
	}
	return n
}

func (l *budgetTracker) unavailableCounts(b *rules.Budget) *rules.BudgetCounts {
	return l.countsOf("unavailable/"+b.Name, b.Counts)
}

// allow asks the PodUnavailableBudgets that cover a pod. Where there is no Kruise
// no webhook has written the name of the budget on the pod, so it is added here.
func (l *budgetTracker) allow(p *cluster.Pod, op kruise.PubOperation) (why string, ok bool) {
	for _, b := range l.budgets {
		if !slices.ContainsFunc(b.Pods, samePod(p)) {
			continue
		}
		n := l.unavailableCounts(b)
		v := b.Decide(*n, rules.Request{Pod: withBudgetName(p, b.Name), Operation: op})
		if !v.Allowed {
			return v.Why, false
		}
		if v.Record {
			n.Allowed--
		}
	}
	return "", true
}

// evict asks the PodDisruptionBudgets.
func (l *budgetTracker) evict(p *cluster.Pod) (why string, ok bool) {
	for _, b := range l.disruptions {
		if !slices.ContainsFunc(b.Pods, samePod(p)) {
			continue
		}
		n := l.countsOf("disruption/"+b.Name, b.Counts)
		v := b.Evict(*n, p)
		if !v.Allowed {
			return v.Why, false
		}
		if v.Record {
			n.Allowed--
		}
	}
	return "", true
}

func samePod(p *cluster.Pod) func(*cluster.Pod) bool {
	return func(other *cluster.Pod) bool { return other == p || other.UID == p.UID && p.UID != "" }
}

// withBudgetName is the pod with its budget's name on it.
func withBudgetName(p *cluster.Pod, budget string) *cluster.Pod {
	if p.Annotations[kruise.RelatedBudgetAnnotation] != "" {
		return p
	}
	out := *p
	out.Annotations = map[string]string{kruise.RelatedBudgetAnnotation: budget}
	maps.Copy(out.Annotations, p.Annotations)
	return &out
}

// warnBudgets names budgets that allow nothing, and those that slow things down.
func (b *reviewer) warnBudgets() {
	asked := !b.updatesInPlace() || b.snap.asksBudgets(b.plan.Driver, kruise.PubUpdateOperation)
	for _, budget := range b.snap.enforcedBudgets(b.plan.Driver) {
		switch n := budget.Counts(); {
		case n.Desired == 0:
		case !asked && n.Allowed == 0:
			b.warning("PodUnavailableBudget %s allows no pod to go, and Kruise does not ask it before an update in place: %s is off", budget.Name, updateGate)
		case !asked:
		case neverAllows(n):
			b.warning("PodUnavailableBudget %s never allows a pod to go: it wants %d of %d available", budget.Name, n.Desired, n.Expected)
		case n.Allowed == 0:
			b.warning("PodUnavailableBudget %s allows no pod to go now: %d are available, %d are wanted", budget.Name, n.Current, n.Desired)
		case n.Expected-n.Desired < b.subject.limits.MaxUnavailable:
			b.warning("PodUnavailableBudget %s allows %s, fewer than maxUnavailable %d: it sets the pace", budget.Name, counted.Of(n.Expected-n.Desired, "unavailable pod"), b.subject.limits.MaxUnavailable)
		}
	}
	if b.plan.Driver != DriverClient {
		return
	}
	for _, budget := range b.snap.Disruptions {
		if n := budget.Counts(); n.Allowed == 0 && b.plan.Change.Mode == rules.ModeRecreate {
			b.warning("PodDisruptionBudget %s allows no eviction now: %s healthy, %d %s wanted", budget.Name, counted.PodsAre(n.Current), n.Desired, counted.Word(n.Desired, "is", "are"))
		}
	}
}

// warnUnreadGates warns of what in the plan depends on feature gates that could not be read.
func (b *reviewer) warnUnreadGates() {
	if b.snap.GatesUnread == "" || b.plan.Driver != DriverKruise {
		return
	}
	for _, name := range modeGates {
		other := b.snap.Gates
		on := other.Gate(name)
		*on = !*on
		if r := other.Release; *on && !r.IsZero() && !r.HasGate(name) {
			continue
		}
		if e := rules.Change(b.present, b.desired, b.updatePolicy(), other); e.Mode != b.plan.Change.Mode || !slices.Equal(e.Restarts, b.plan.Change.Restarts) {
			b.warning("Kruise's feature gates cannot be read (%s): with --feature-gates %s=%t, pods would be updated differently: %s", b.snap.GatesUnread, name, *on, e.Why)
		}
	}
	if budgets := b.snap.enforcedBudgets(b.plan.Driver); len(budgets) > 0 && b.updatesInPlace() && !b.snap.Gates.GuardUpdates {
		b.warning("Kruise's feature gates cannot be read (%s): the plan assumes that %s is off, so that no PodUnavailableBudget is asked before an update in place; set --feature-gates %s=true if it is on", b.snap.GatesUnread, updateGate, updateGate)
	}
}

// modeGates are the feature gates that decide what a change does to pods.
var modeGates = []string{"InPlaceUpdateEnvFromMetadata", "InPlaceWorkloadVerticalScaling", "RecreatePodWhenChangeVCTInCloneSetGate"}

// updatesInPlace reports whether the change updates pods in place.
func (b *reviewer) updatesInPlace() bool {
	return b.plan.Change.Mode == rules.ModeInPlace || b.plan.Change.Mode == rules.ModeMetadataOnly
}
