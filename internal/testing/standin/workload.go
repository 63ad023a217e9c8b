package standin

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// notSeen is after how long a controller looks again that does not see its own
// writes yet; the event that brings them wakes it as well.
const notSeen = 20 * time.Millisecond

// workloads runs the controllers whose models are in package controller.
func (s *standIns) workloads(ctx context.Context) error {
	for _, kind := range []string{kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindSidecarSet} {
		l := s.newLoop(func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
			return s.reconcile(ctx, kind, key)
		})
		if kind == kruise.KindCloneSet {
			l.retry = controller.Retry
		}
		if err := s.wakeWorkload(l, kind); err != nil {
			return err
		}
		l.start(ctx)
	}
	return nil
}

// wakeWorkload has the controller of a kind look at what concerns it.
func (s *standIns) wakeWorkload(l *loop, kind string) error {
	concerned := owner(kind)
	errs := []error{
		l.wake(s.store.kruise[kind], itself),
		l.wake(s.store.revisions, ofOwner(kind)),
	}
	switch kind {
	case kruise.KindSidecarSet:
		return errors.Join(append(errs, l.wake(s.store.pods, s.injected))...)
	case kruise.KindDaemonSet:
		errs = append(errs, l.wake(s.store.nodes, func(before, after metav1.Object) []types.NamespacedName {
			if before != nil && after != nil && sameNode(before, after) {
				return nil
			}
			return s.store.allOf(kind)
		}))
	}
	for _, i := range []cache.SharedIndexInformer{s.store.pods, s.store.claims} {
		errs = append(errs, l.wake(i, concerned))
	}
	return errors.Join(errs...)
}

// ofOwner is [owner] for objects that may live elsewhere than their owner:
// revisions of kinds without a namespace.
func ofOwner(kind string) func(before, after metav1.Object) []types.NamespacedName {
	concerned := owner(kind)
	if kind != kruise.KindSidecarSet {
		return concerned
	}
	return func(before, after metav1.Object) []types.NamespacedName {
		keys := concerned(before, after)
		for i := range keys {
			keys[i].Namespace = ""
		}
		return keys
	}
}

// injected are the SidecarSets that a change of a pod concerns.
func (s *standIns) injected(before, after metav1.Object) []types.NamespacedName {
	var out []types.NamespacedName
	for _, w := range s.sidecarSets() {
		set, ok := w.Object.(*kruise.SidecarSet)
		if !ok {
			continue
		}
		if selects := s.selects(w, set); !selects(before) && !selects(after) {
			continue
		}
		if controller.WakesSidecarSet(set, podOf(before), podOf(after)) {
			out = append(out, types.NamespacedName{Name: w.Name})
		}
	}
	return out
}

// selects distinguishes the pods that a SidecarSet selects: no other one counts for it, and a cluster of many tests has
// hundreds of them. nil is none.
func (s *standIns) selects(w *cluster.Workload, set *kruise.SidecarSet) func(pod metav1.Object) bool {
	rules := controller.SidecarSetRules(w, set, gates().Release)
	rules.Namespaces = s.namespacesNow()
	matches := rules.Selects()
	return func(pod metav1.Object) bool {
		return pod != nil && matches(&cluster.Pod{Namespace: pod.GetNamespace(), Labels: pod.GetLabels()})
	}
}

// reconcile makes one pass of an object's controller.
func (s *standIns) reconcile(ctx context.Context, kind string, key types.NamespacedName) (time.Duration, error) {
	o := s.store.object(kind, key)
	switch {
	case o == nil || o.GetDeletionTimestamp() != nil:
		return 0, nil
	case !s.seen.all(o.GetUID()):
		return notSeen, nil
	}
	w, err := s.store.workload(o)
	if err != nil {
		return 0, err
	}
	h := &hand{standIns: s, object: o, view: s.view(w)}
	pass, err := controller.Reconcile(h.view)
	if err != nil {
		return 0, err
	}
	return h.carryOut(ctx, pass)
}

// sidecarSets are all SidecarSets.
func (s *standIns) sidecarSets() []*cluster.Workload {
	var out []*cluster.Workload
	for _, key := range s.store.allOf(kruise.KindSidecarSet) {
		if o := s.store.object(kruise.KindSidecarSet, key); o != nil {
			if w, err := s.store.workload(o); err == nil {
				out = append(out, w)
			}
		}
	}
	return out
}
