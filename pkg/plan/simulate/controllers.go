package simulate

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// turn is when a controller looks at one object next: 0 when nobody has asked it
// to, else one more than the time.
type turn struct{ due time.Duration }

// look has do run after a delay, unless it will run sooner anyway. Everything
// that happens until then comes to that one run.
func (w *World) look(t *turn, d time.Duration, do func()) {
	due := w.at + d + 1
	if t.due > 0 && t.due <= due {
		return
	}
	t.due = due
	w.after(d, func() {
		if t.due == due {
			t.due = 0
			do()
		}
	})
}

// wake has the object's controller look after its usual delay.
func (w *World) wake(o *object) {
	w.wakeAfter(o, w.latency(len(o.pods.now)))
}

// latency is how late somebody is who watches so many pods.
func (w *World) latency(pods int) time.Duration {
	return w.opt.Latency + time.Duration(pods)*w.opt.LatencyPerPod
}

func (w *World) wakeAfter(o *object, d time.Duration) {
	if o.workload == nil || o.carrier != nil {
		return
	}
	w.look(&o.turn, d, func() { w.visit(o) })
}

// visit makes a pass unless the object is gone.
func (w *World) visit(o *object) {
	if w.objects[o.ref] == o {
		w.reconcile(o)
	}
}

// reconcile makes one pass of the object's controller.
func (w *World) reconcile(o *object) {
	pass, err := controller.Reconcile(w.view(o))
	if err != nil {
		w.errs = append(w.errs, fmt.Errorf("%s: %w", o.ref, err))
		return
	}
	after, refused := w.carryOut(o, pass)
	w.again(o, after, refused)
}

// carryOut does what a pass asks for, up to the first write that is refused, and
// returns when the controller wants to look again.
func (w *World) carryOut(o *object, pass controller.Pass) (again time.Duration, refused bool) {
	for done, a := range pass.Actions {
		err := w.execute(o, a)
		if err == nil {
			continue
		}
		refused = true
		o.refusal = err.Error()
		if pass.IfRefused != nil {
			again, _ = w.carryOut(o, pass.IfRefused(done, err))
			return again, true
		}
		break
	}
	if pass.Status != nil {
		w.setStatus(o, pass.Status)
	}
	return pass.Again, refused
}

// again plans the next look. A controller whose write was refused comes back by
// itself, after twice the wait each time; only that of a CloneSet asks a budget
// by the second. Whatever else has it look sooner takes the place of that: when
// it is refused again, the wait begins anew, and is longer (docs/kruise/workloads.md#update-order
// and docs/kruise/workloads.md#observed-on-a-cluster; case 405).
func (w *World) again(o *object, after time.Duration, refused bool) {
	if refused {
		wait := min(retryFirst<<min(o.refusals, 20), retryMost)
		if o.ref.Kind == kruise.KindCloneSet {
			wait = controller.Retry
		}
		o.refusals++
		w.wakeAfter(o, wait)
	} else {
		o.refusals, o.refusal = 0, ""
	}
	if after > 0 {
		w.wakeAfter(o, after)
	}
}

// How long a controller waits after the first refusal and, doubled each time, at
// most.
const (
	retryFirst = 5 * time.Millisecond
	retryMost  = 1000 * time.Second
)

// view is what a controller sees.
func (w *World) view(o *object) *controller.View {
	v := &controller.View{
		Now: w.now(), Workload: o.workload, Revisions: o.revisions, Pods: w.podsOf(o), Nodes: w.lend(),
		Namespaces: w.namespaces, Reports: w.reports, Gates: w.opt.Gates,
		Claims: w.claimsOf(o), Survey: &o.survey,
		Pick: func(n int) int { return int(w.chance.below(uint64(max(n, 1)))) },
	}
	for _, child := range o.children {
		v.Children = append(v.Children, child.workload)
	}
	if o.parent != nil {
		v.Related = w.podsOf(o.parent)
	}
	return v
}

// workload finds the workload that a pod ends up with, as admission asks for it.
func (w *World) workload(namespace string, owner cluster.Owner) *cluster.Workload {
	o := w.ownerOf(namespace, owner)
	switch {
	case o == nil:
		return nil
	case o.parent != nil:
		return o.parent.workload
	}
	return o.workload
}
