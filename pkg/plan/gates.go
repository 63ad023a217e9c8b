package plan

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// updateGate has Kruise ask PodUnavailableBudgets before it updates a pod in place.
const updateGate = "PodUnavailableBudgetUpdateGate"

// modeGates are the feature gates that decide what a change does to pods.
var modeGates = []string{"InPlaceUpdateEnvFromMetadata", "InPlaceWorkloadVerticalScaling", "RecreatePodWhenChangeVCTInCloneSetGate"}

// warnUnread says what of the plan depends on feature gates that could not be read.
func (b *builder) warnUnread() {
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
	if budgets := b.snap.heeded(b.plan.Driver); len(budgets) > 0 && b.updatesInPlace() && !b.snap.Gates.GuardUpdates {
		b.warning("Kruise's feature gates cannot be read (%s): the plan takes %s to be off, so that no PodUnavailableBudget is asked before an update in place; --feature-gates %s=true says otherwise", b.snap.GatesUnread, updateGate, updateGate)
	}
}

// updatesInPlace reports whether the change updates pods in place.
func (b *builder) updatesInPlace() bool {
	return b.plan.Change.Mode == rules.ModeInPlace || b.plan.Change.Mode == rules.ModeMetadataOnly
}

// asked reports whether Kruise asks budgets before an operation on a pod; a client always
// does.
func (s *Snapshot) asked(d Driver, op kruise.PubOperation) bool {
	return d == DriverClient || op != kruise.PubUpdateOperation || s.Gates.GuardUpdates
}

// blockedByBudget names the budget that keeps the controller from the next pod, if any; never
// is true for one that never lets a pod go. It answers as [Look] does, and asks only which pods
// are next: it is asked at every turn of a rollout.
func (r *run) blockedByBudget() (list []Blocker, never bool) {
	if len(r.snap.heeded(r.plan.Driver)) == 0 || r.plan.Driver != DriverKruise {
		return nil, false
	}
	b, ok := inPlaceOfSpec(*r.snap)
	if !ok {
		return nil, false
	}
	guard, k := b.guard(), kindOf(b.present.Object)
	if guard.spares(k.mostNext(b)) {
		return nil, false
	}
	for _, p := range k.choice(b, r.now, true).Pods {
		if why, ok := guard.Budget(p); !ok {
			return []Blocker{{Gate: GateBudget, Pod: p.Name, Why: why}}, guard.BudgetNever(p)
		}
	}
	return nil, false
}
