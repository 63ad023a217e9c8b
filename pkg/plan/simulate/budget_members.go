package simulate

import (
	"cmp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// members are the pods that a budget may cover by its selector. They are kept up to date where many
// budgets share a namespace: each of them would look at all of its pods otherwise.
type members struct {
	places map[*pod]bool
	// sorted are the members in the order of all pods, unless stale.
	sorted []*pod
	stale  bool
}

// list returns the pods in the order of all pods, in a list of its own.
func (m *members) list() []*cluster.Pod {
	if m.stale {
		m.sorted = m.sorted[:0]
		for e := range m.places {
			m.sorted = append(m.sorted, e)
		}
		slices.SortFunc(m.sorted, func(a, b *pod) int { return cmp.Compare(a.inAll, b.inAll) })
		m.stale = false
	}
	out := make([]*cluster.Pod, len(m.sorted))
	for i, e := range m.sorted {
		out[i] = e.Pod
	}
	return out
}

func (m *members) set(e *pod, in bool) {
	if m.stale = true; !in {
		delete(m.places, e)
		return
	}
	if m.places == nil {
		m.places = map[*pod]bool{}
	}
	m.places[e] = true
}

// enroll makes a pod a member of the budgets that may cover it.
func (bg *budgets) enroll(e *pod, unavailable []*unavailableBudget) {
	var now []*members
	if bg.covering[e.Namespace].isMany() {
		for _, g := range unavailable {
			now = append(now, &g.members)
		}
	}
	if many := bg.protecting[e.Namespace]; many.isMany() {
		for _, d := range many.candidates(e.Pod, bg.store) {
			now = append(now, &d.members)
		}
	}
	if slices.Equal(now, e.memberOf) {
		return
	}
	bg.dismiss(e)
	for _, m := range now {
		m.set(e, true)
	}
	e.memberOf = now
}

// dismiss ends the memberships of a pod.
func (bg *budgets) dismiss(e *pod) {
	for _, m := range e.memberOf {
		m.set(e, false)
	}
	e.memberOf = nil
}

// moved notes that a pod has another place among all pods.
func (bg *budgets) moved(e *pod) {
	for _, m := range e.memberOf {
		m.stale = true
	}
}

// podsUnder are the pods that a PodUnavailableBudget may cover, in the order of all pods.
func (bg *budgets) podsUnder(g *unavailableBudget) []*cluster.Pod {
	if g.budget.Spec.TargetReference == nil && bg.covering[g.budget.Namespace].isMany() {
		return g.members.list()
	}
	return bg.store.podsIn(g.budget.Namespace)
}

// podsProtectedBy are the pods that a PodDisruptionBudget may cover, in the order of all pods.
func (bg *budgets) podsProtectedBy(d *disruptionBudget) []*cluster.Pod {
	if bg.protecting[d.budget.Namespace].isMany() {
		return d.members.list()
	}
	return bg.store.podsIn(d.budget.Namespace)
}
