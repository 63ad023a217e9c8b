package simulate

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// answerHooks has a program outside Kruise answer lifecycle hooks so long after a pod came
// to wait for one; 0 and less is never.
func (w *World) answerHooks(after time.Duration) {
	if w.hookAnswer = after; after <= 0 {
		return
	}
	for _, e := range w.all.pods {
		w.answerHook(e)
	}
}

// answerHook plans the answer to the hook that a pod waits for, if any.
func (w *World) answerHook(e *pod) {
	if w.hookAnswer <= 0 {
		return
	}
	state := rules.StateOf(e.Pod)
	if _, held := rules.HeldBy(e.Pod, lifecycleOf(e)); !held {
		return
	}
	w.after(w.hookAnswer, func() {
		hold, held := rules.HeldBy(e.Pod, lifecycleOf(e))
		if held && w.pods[e.UID] == e && rules.StateOf(e.Pod) == state {
			w.change(e, hold.Answer, "the hook "+hold.Hook+" is answered")
		}
	})
}

// lifecycleOf are the hooks of a pod's workload.
func lifecycleOf(e *pod) *kruise.Lifecycle {
	switch o := e.owner; {
	case o == nil:
		return nil
	case o.shadow != nil && o.shadow.workload != nil:
		return cluster.Of(o.shadow.workload.Object).Lifecycle()
	case o.workload != nil:
		return cluster.Of(o.workload.Object).Lifecycle()
	}
	return nil
}
