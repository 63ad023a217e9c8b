package simulate

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// spreading is a WorkloadSpread with its controller.
type spreading struct {
	ref    cluster.Ref
	target cluster.Ref
	spread *kruise.WorkloadSpread
	// subsets are those of the object in its newest version.
	subsets []*tree.Node
	turn
	// waiting: the controller has looked for its target in vain, and will again.
	waiting bool
}

// How late the controller of a WorkloadSpread is.
const (
	// spreadRetry is when it looks again for a target that was not there; all its
	// pods are by then (recorded in 030).
	spreadRetry = time.Second
	// spreadExpiry is how long a pod that was counted on admission is waited for.
	spreadExpiry = 30 * time.Second
	// spreadWrites is how many times the usual latency its writes to pods take until
	// others see them: the target's controller has chosen by then which pods go
	// (recorded in 003).
	spreadWrites = 3
)

func (w *World) writeSpread(ref cluster.Ref, doc *tree.Node) error {
	hub, _, err := kruise.ToHub(doc)
	if err != nil {
		return err
	}
	ws := &kruise.WorkloadSpread{}
	if _, err := kruise.Decode(doc, ws); err != nil {
		return err
	}
	s := w.spreadNamed(ref)
	if s == nil {
		s = &spreading{ref: ref}
		w.spreads = append(w.spreads, s)
		slices.SortFunc(w.spreads, func(a, b *spreading) int { return compareRefs(a.ref, b.ref) })
	} else {
		ws.Status = s.spread.Status
	}
	s.spread, s.subsets = ws, tree.Items(tree.Get(hub, "spec", "subsets"))
	if t := ws.Spec.TargetReference; t != nil {
		s.target = cluster.Ref{Group: groupOf(t.APIVersion), Kind: t.Kind, Namespace: ref.Namespace, Name: t.Name}
	}
	w.admission = nil // what pods are made from is recreated
	w.look(&s.turn, w.opt.Latency, func() { w.reconcileSpread(s) })
	return nil
}

func (w *World) spreadNamed(ref cluster.Ref) *spreading {
	i := slices.IndexFunc(w.spreads, func(s *spreading) bool { return s.ref == ref })
	if i < 0 {
		return nil
	}
	return w.spreads[i]
}

// dropSpread forgets a WorkloadSpread; what it has put on pods stays there.
func (w *World) dropSpread(ref cluster.Ref) {
	w.spreads = slices.DeleteFunc(w.spreads, func(s *spreading) bool { return s.ref == ref })
}

// spreadOver finds the WorkloadSpread whose target makes the pods of an object.
func (w *World) spreadOver(o *object) *spreading {
	for ; o != nil && len(w.spreads) > 0; o = o.parent {
		if i := slices.IndexFunc(w.spreads, func(s *spreading) bool { return s.target == o.ref }); i >= 0 {
			return w.spreads[i]
		}
	}
	return nil
}

// spreadRules is the WorkloadSpread as the rules see it; ok is false without its
// target.
func (w *World) spreadRules(s *spreading) (r rules.Spread, ok bool) {
	o := w.objects[s.target]
	if o == nil || o.workload == nil {
		return r, false
	}
	r = rules.Spread{
		Name: s.ref.Name, Spec: &s.spread.Spec, Status: &s.spread.Status, Latest: kindOf(o).latest(o),
		Pods: slices.Clone(w.podsOf(o)), Now: w.now(),
	}
	var paths []string
	if f := s.spread.Spec.TargetFilter; f != nil {
		paths = f.ReplicasPathList
	}
	n, err := spread.Replicas(o.doc, paths)
	r.Replicas = n
	return r, err == nil
}

// targetChanged has WorkloadSpreads over an object look at once: their limits are
// right before its controller makes pods.
func (w *World) targetChanged(o *object) {
	s := w.spreadOver(o)
	if s == nil {
		return
	}
	w.look(&s.turn, 0, func() { w.reconcileSpread(s) })
	if s.waiting {
		s.waiting = false
		w.after(spreadRetry, func() { w.reconcileSpread(s) })
	}
}

// wakeSpread has the controller look when a pod that belongs to a subset comes,
// goes or ends; pods of no subset do not wake it (recorded in 002). One that goes
// is counted back at once, as its deletion is seen by the webhook.
func (w *World) wakeSpread(e *pod, before, after *cluster.Pod) {
	if len(w.spreads) == 0 {
		return
	}
	one := after
	if one == nil {
		one = before
	}
	m, ok := spread.ReadMatch(one.Annotations)
	if !ok || before != nil && after != nil && rules.Active(before) == rules.Active(after) {
		return
	}
	s := w.spreadNamed(cluster.Ref{Group: kruise.Group, Kind: kruise.KindWorkloadSpread, Namespace: e.Namespace, Name: m.Spread})
	if s == nil {
		return
	}
	if before != nil {
		w.countSpread(s)
	}
	w.look(&s.turn, w.opt.Latency, func() { w.reconcileSpread(s) })
}

func (w *World) countSpread(s *spreading) {
	if r, ok := w.spreadRules(s); ok {
		s.spread.Status = *r.Count()
	}
}

// reconcileSpread makes one pass of the controller.
func (w *World) reconcileSpread(s *spreading) {
	r, ok := w.spreadRules(s)
	if w.spreadNamed(s.ref) != s {
		return
	}
	if !ok {
		s.waiting = true
		return
	}
	pass := controller.ReconcileSpread(&controller.SpreadView{
		Spread: r, Subsets: s.subsets, Nodes: w.lend(), Whole: w.whole,
		LeaveMetadata: s.spread.Annotations[kruise.WorkloadSpreadIgnorePatchAnnotation] == "true",
	})
	if pass.Status != nil {
		s.spread.Status = *pass.Status
		w.active = w.at
	}
	w.after(spreadWrites*w.opt.Latency, func() { w.spreadWrites(s, pass.Actions) })
	if pass.Again > 0 {
		w.look(&s.turn, pass.Again, func() { w.reconcileSpread(s) })
	}
}
