package plan

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Outlook is what a workload's controller, or the client in its place, makes of its
// pods as they stand, by the spec that is in the cluster.
type Outlook struct {
	// Object is the one that has the pods: the carrier where there is one.
	Object *cluster.Workload
	Driver Driver
	// Total is how many pods count, Reach how many of them the update strategy's selector
	// lets carry the new template, Allowed how many of those the partition does.
	// Partition is spelt as in the spec, "" without one.
	Total, Reach, Allowed int
	Partition             string
	Limits                Limits
	// Choice are the pods that the next pass updates, in their order, and why no
	// more; it is empty for kinds whose controller does not choose pods.
	rules.Choice

	concerns func(*cluster.Pod) bool
	barred   func(*cluster.Pod) string
	carries  func(*cluster.Pod) bool
	guard
}

// guard asks the budgets about updates of pods.
type guard struct {
	driver  Driver
	modes   modes
	permits *permits
	snap    *Snapshot
}

// Look returns the outlook of a workload at a time. It is false where the snapshot
// has none.
func Look(s Snapshot, now time.Time) (*Outlook, bool) {
	b, ok := inPlaceOfSpec(s)
	if !ok {
		return nil, false
	}
	b.sub = b.subject()
	o := &Outlook{
		Object: b.present, Driver: b.plan.Driver, Total: b.sub.total, Reach: b.sub.total - b.sub.left, Allowed: b.sub.total - b.sub.left, Limits: b.sub.limits,
		carries: Carries(b.plan, s), Choice: kindOf(b.present.Object).choice(b, now, false), barred: b.barred(), concerns: b.concerns(), guard: b.guard(),
	}
	if v, ok := b.ownPartition(); ok {
		o.Partition, o.Allowed = v.String(), max(0, min(b.sub.allowed(v), o.Reach))
	}
	return o, true
}

// inPlaceOfSpec has a builder compare the workload in the cluster with itself: what its
// controller does by the present spec. It is false where there is no workload.
func inPlaceOfSpec(s Snapshot) (b *builder, ok bool) {
	w := s.Object()
	if w == nil || w.Object == nil {
		return nil, false
	}
	b = &builder{desired: w, present: w, snap: s}
	b.plan.Driver = kindOf(w.Object).drivers()[0]
	b.compare()
	return b, true
}

// guard asks the budgets that the driver asks.
func (b *builder) guard() guard {
	return guard{driver: b.plan.Driver, modes: b.modes, permits: b.snap.permits(b.snap.heeded(b.plan.Driver)), snap: &b.snap}
}

// Updated reports whether a pod carries the template of the spec.
func (o *Outlook) Updated(p *cluster.Pod) bool { return o.carries(p) }

// Mode says what an update does to a pod, and why.
func (g *guard) Mode(p *cluster.Pod) (rules.UpdateMode, string) { return g.modes.of(p) }

// Concerns reports whether a pod is one of the workload's at all: a SidecarSet is handed
// pods outside its namespaces, and pods that it has never been injected into.
func (o *Outlook) Concerns(p *cluster.Pod) bool { return o.concerns(p) }

// LeftOut reports whether a pod stays as it is because the update strategy's selector does
// not match it, which is what the spec asks for.
func (o *Outlook) LeftOut(p *cluster.Pod) bool {
	set, ok := o.Object.Object.(*kruise.SidecarSet)
	return ok && !o.Updated(p) && !(&rules.SidecarSet{Spec: &set.Spec}).Chooses(p)
}

// Barred says why no pass will ever update a pod; empty where one may.
func (o *Outlook) Barred(p *cluster.Pod) string {
	if mode, why := o.Mode(p); mode == rules.ModeNotAllowed {
		return why
	}
	return o.barred(p)
}

// Budget asks the budgets that cover a pod whether an update of it could begin now;
// why names the one that does not let it.
func (g *guard) Budget(p *cluster.Pod) (why string, ok bool) {
	op := g.operation(p)
	if !g.snap.asked(g.driver, op) {
		return g.unasked(p, op)
	}
	if why, ok = g.permits.allow(p, op); !ok || g.driver != DriverClient || op == kruise.PubUpdateOperation {
		return why, ok
	}
	return g.permits.evict(p)
}

// operation is what budgets are asked about when a pod is updated.
func (g *guard) operation(p *cluster.Pod) kruise.PubOperation {
	if mode, _ := g.Mode(p); mode == rules.ModeRecreate {
		return kruise.PubDeleteOperation
	}
	return kruise.PubUpdateOperation
}

// unasked is the answer for an update that Kruise asks no budget about, as far as its
// feature gates are known.
func (g *guard) unasked(p *cluster.Pod, op kruise.PubOperation) (why string, ok bool) {
	if g.snap.GatesUnread == "" {
		return "", true
	}
	if why, ok = g.permits.allow(p, op); !ok {
		why += ", if " + updateGate + " is on: Kruise's feature gates cannot be read"
	}
	return why, ok
}

// BudgetNever reports whether a budget that covers a pod wants all its pods available, so
// that it never lets one go: waiting does not help then.
func (g *guard) BudgetNever(p *cluster.Pod) bool {
	op := g.operation(p)
	if !g.snap.asked(g.driver, op) {
		return false
	}
	if slices.ContainsFunc(g.permits.budgets, func(b *rules.Budget) bool {
		return slices.ContainsFunc(b.Pods, samePod(p)) && never(b.Counts())
	}) {
		return true
	}
	return g.driver == DriverClient && op != kruise.PubUpdateOperation && slices.ContainsFunc(g.permits.disruptions, func(b *rules.DisruptionBudget) bool {
		return slices.ContainsFunc(b.Pods, samePod(p)) && never(b.Counts())
	})
}

// spares reports whether no budget can refuse an update of so many pods, whichever they are.
func (g *guard) spares(pods int) bool {
	for _, b := range g.permits.budgets {
		if !b.Spares(*g.permits.unavailable(b), pods) {
			return false
		}
	}
	return true
}

// concerns asks which pods are a SidecarSet's, those included that it no longer counts
// since they lack a container that it has now.
func (b *builder) concerns() func(*cluster.Pod) bool {
	o, ok := b.present.Object.(*kruise.SidecarSet)
	if !ok {
		return func(*cluster.Pod) bool { return true }
	}
	set := b.sidecarSetRules(o)
	selects := set.Selects()
	return func(p *cluster.Pod) bool { return selects(p) && set.Listed(p) }
}

// barred asks what keeps pods of a SidecarSet from ever being upgraded
// (docs/kruise/sidecarset.md#matched-pods and docs/kruise/sidecarset.md#what-can-change-in-place).
func (b *builder) barred() func(*cluster.Pod) string {
	o, ok := b.present.Object.(*kruise.SidecarSet)
	if !ok {
		return func(*cluster.Pod) string { return "" }
	}
	set := b.sidecarSetRules(o)
	matched := map[string]bool{}
	for _, p := range set.Matched() {
		matched[p.UID] = true
	}
	return func(p *cluster.Pod) string {
		switch {
		case !matched[p.UID]:
			return "the set does not count it: its labels or namespace do not match, or it lacks containers that the set has now"
		case !set.Upgradable(p):
			return "more than images of the sidecars changed since it was made, and only images change in place"
		}
		return ""
	}
}

// daemonChoice writes a choice whose order is random inside.
func (b *builder) daemonChoice(spec *kruise.DaemonSetSpec, now time.Time) rules.Choice {
	set := daemonSetRules(b.snap, spec, b.updateRevision(), scheduledOf(b.present.Object))
	set.Now = now
	u := set.ChooseUpdate()
	order := append(append([]*cluster.Pod{}, u.Broken...), u.Candidates...)
	return rules.Choice{Pods: order[:len(u.Broken)+u.Room], Order: order, Why: u.Why}
}

// Unready says what a pod that is not ready waits for; stuck is true where that does
// not pass by itself, as far as the pod says.
func Unready(s Snapshot, p *cluster.Pod) (b Blocker, stuck bool) {
	if b, _, bad := trouble(p); bad {
		return b, true
	}
	return (&run{snap: &s}).notReady(p), false
}
