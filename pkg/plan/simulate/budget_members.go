package simulate

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
	if bg.unavailable.index[e.Namespace].isMany() {
		for _, g := range unavailable {
			now = append(now, &g.members)
		}
	}
	if many := bg.disruptions.index[e.Namespace]; many.isMany() {
		for _, d := range many.candidates(bg.store, e.Pod) {
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

// pods are those that a budget may cover, in the order of all pods.
func (l *guards[B, R]) pods(g *guard[B, R], s *store) []*cluster.Pod {
	namespace := g.budget.GetNamespace()
	if _, target := g.covers(); target == nil && l.index[namespace].isMany() {
		return g.members.list()
	}
	return s.podsIn(namespace)
}

// budgetIndex finds the budgets of a namespace that may cover a pod, without asking each.
type budgetIndex[B metav1.Object, R any] struct {
	budgets []*guard[B, R]
	// labelled is nil where there are so few budgets that each is asked.
	labelled *kruise.SelectorIndex
	// targets has the places of budgets with a target, by the name of the target and by the
	// label of what it was rendered to.
	targets map[string][]int
}

// fewBudgets are asked one by one sooner than an index is.
const fewBudgets = 4

// isMany reports whether there are so many budgets that an index is asked first.
func (x budgetIndex[B, R]) isMany() bool { return x.labelled != nil }

// makeIndex files the budgets, which have no members after it.
func (l *guards[B, R]) makeIndex() {
	l.index = map[string]budgetIndex[B, R]{}
	for _, g := range l.list {
		x := l.index[g.budget.GetNamespace()]
		x.budgets = append(x.budgets, g)
		l.index[g.budget.GetNamespace()] = x
		g.members = members{}
	}
	for namespace, x := range l.index {
		if len(x.budgets) > fewBudgets {
			x.fill()
			l.index[namespace] = x
		}
	}
}

func (x *budgetIndex[B, R]) fill() {
	list := make([]labels.Selector, len(x.budgets))
	x.targets = map[string][]int{}
	for i, g := range x.budgets {
		s, t := g.covers()
		if t != nil {
			x.targets[t.Name] = append(x.targets[t.Name], i)
			source := kruise.SourceValue(t.Kind, t.Name)
			x.targets[source] = append(x.targets[source], i)
			continue
		}
		if s != nil {
			list[i], _ = metav1.LabelSelectorAsSelector(s) // one that cannot be read covers nothing
		}
	}
	x.labelled = kruise.NewSelectorIndex(list)
}

// candidates are the budgets that may cover one of the pods, in their order.
func (x budgetIndex[B, R]) candidates(s *store, list ...*cluster.Pod) []*guard[B, R] {
	if !x.isMany() {
		return x.budgets
	}
	found := map[int]bool{}
	for _, p := range list {
		for _, place := range x.places(p, s) {
			found[place] = true
		}
	}
	var out []*guard[B, R]
	for _, place := range slices.Sorted(maps.Keys(found)) {
		out = append(out, x.budgets[place])
	}
	return out
}

// places are those of the candidates for a pod.
func (x budgetIndex[B, R]) places(p *cluster.Pod, s *store) []int {
	places := x.labelled.Candidates(p.Labels)
	if len(x.targets) > 0 && p.Owner.Kind != "" {
		if w := s.workloadOf(p.Namespace, p.Owner); w != nil {
			places = slices.Concat(places, x.targets[w.Name], x.targets[w.Labels[kruise.SourceLabel]])
		}
	}
	return places
}
