package simulate

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Delete removes an object; its pods and ReplicaSets go with it. The error wraps
// [plan.ErrNotFound].
func (w *World) Delete(ref cluster.Ref) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	delete(w.objects, ref)
	w.version++
	w.active = w.at
	if o.workload == nil {
		w.dropBudget(ref)
		w.dropSpread(ref)
		return nil
	}
	delete(w.owners, o.workload.UID)
	for _, child := range slices.Clone(o.children) {
		_ = w.Delete(child.ref)
	}
	for _, e := range slices.Clone(o.pods.pods) {
		if !e.Deleting {
			next := *e.Pod
			next.Deleting = true
			w.put(e, &next, "its owner is gone")
		}
	}
	if o.parent != nil {
		o.parent.children = slices.DeleteFunc(o.parent.children, func(c *object) bool { return c == o })
		w.touch(o.parent)
		w.wake(o.parent)
	}
	if ref.Kind == kruise.KindSidecarSet {
		w.admission = nil
		w.listSets()
	}
	return nil
}

func (w *World) dropBudget(ref cluster.Ref) {
	w.admission = nil
	w.guards = slices.DeleteFunc(w.guards, func(g *guard) bool {
		of := ref.Kind == kruise.KindPodUnavailableBudget || g.rendered && ref.Kind == "PodDisruptionBudget"
		return of && g.budget.Name == ref.Name && g.budget.Namespace == ref.Namespace
	})
	w.weighAll()
	w.disruptions = slices.DeleteFunc(w.disruptions, func(d *disruption) bool {
		return ref.Kind == "PodDisruptionBudget" && d.budget.Name == ref.Name && d.budget.Namespace == ref.Namespace
	})
}

// pod returns the pod of a reference, never its successor of the same name: a uid
// that is given must be the pod's.
func (w *World) pod(ref plan.PodRef) (*pod, error) {
	e := w.names[podName{ref.Namespace, ref.Name}]
	if e == nil || (ref.UID != "" && e.UID != ref.UID) {
		return nil, fmt.Errorf("pod %s: %w", ref.Name, plan.ErrNotFound)
	}
	return e, nil
}

// PatchPod changes labels, annotations, finalizers, images or conditions of a
// pod. A budget may refuse it.
func (w *World) PatchPod(ref plan.PodRef, c cluster.PodChange) error {
	e, err := w.pod(ref)
	if err != nil {
		return err
	}
	rest := c
	rest.Conditions = nil
	if err := w.admitUpdate(e, rest); err != nil {
		return err
	}
	w.rec.writes++
	w.change(e, c, "")
	return nil
}

// DeletePod deletes a pod by hand. A PodUnavailableBudget may refuse it.
func (w *World) DeletePod(ref plan.PodRef) error {
	e, err := w.pod(ref)
	if err != nil {
		return err
	}
	w.rec.writes++
	return w.deletePod(e, "deleted by hand")
}

// EvictPod evicts a pod: the budgets of both kinds are asked.
func (w *World) EvictPod(ref plan.PodRef) error {
	e, err := w.pod(ref)
	if err != nil {
		return err
	}
	w.rec.writes++
	if e.Deleting {
		return nil
	}
	if err := w.admitEviction(e); err != nil {
		return err
	}
	next := *e.Pod
	next.Deleting = true
	w.put(e, &next, "evicted")
	return nil
}
