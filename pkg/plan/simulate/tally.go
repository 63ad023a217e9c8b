package simulate

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// weigh keeps the tallies of the budgets up to date with one pod.
func (w *World) weigh(e *pod) {
	if len(w.guards) == 0 {
		return
	}
	if len(e.weights) != len(w.guards) {
		e.weights = make([]controller.Weight, len(w.guards))
	}
	for i, g := range w.guards {
		now := w.guardView(g).Weigh(e.Pod)
		if now != e.weights[i] {
			g.tally.Add(e.weights[i], -1)
			g.tally.Add(now, 1)
			e.weights[i] = now
		}
	}
}

// unweigh takes a pod out of the tallies.
func (w *World) unweigh(e *pod) {
	for i, g := range w.guards {
		if i < len(e.weights) {
			g.tally.Add(e.weights[i], -1)
		}
	}
	e.weights = nil
}

// weighAll makes the tallies anew.
func (w *World) weighAll() {
	for _, g := range w.guards {
		namespace := g.budget.Namespace
		g.tally = controller.Tally{Pod: func(name string) *cluster.Pod {
			if e := w.names[podName{namespace, name}]; e != nil {
				return e.Pod
			}
			return nil
		}}
	}
	for _, e := range w.all.pods {
		e.weights = nil
		w.weigh(e)
	}
}
