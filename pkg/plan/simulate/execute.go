package simulate

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// execute carries out one write of a controller.
func (w *World) execute(o *object, a controller.Action) error {
	if _, ok := a.(controller.Event); ok {
		return nil // nobody listens
	}
	w.rec.writes++
	switch a := a.(type) {
	case controller.StoreRevision:
		w.storeRevision(o, a.Revision)
	case controller.DropRevision:
		o.revisions = slices.DeleteFunc(slices.Clone(o.revisions), func(r cluster.Revision) bool { return r.Name == a.Name })
		delete(o.templates, a.Name)
		w.touch(o)
	case controller.CreatePod:
		return w.create(o, a)
	case controller.PatchPod:
		return w.patchPod(a)
	case controller.DeletePod:
		return w.deletePod(w.pods[a.Pod.UID], "")
	case controller.PatchWorkload:
		return w.patchHub(o, a.Patch)
	case controller.ScaleChild:
		return w.scaleChild(o, a)
	case controller.DropChild:
		return w.Delete(cluster.Ref{Group: "apps", Kind: kruise.KindReplicaSet, Namespace: o.ref.Namespace, Name: a.Name})
	case controller.ChangeClaim:
		w.changeClaim(o, a)
	}
	return nil
}

func (w *World) storeRevision(o *object, r cluster.Revision) {
	o.revisions = slices.Clone(o.revisions)
	i := slices.IndexFunc(o.revisions, func(have cluster.Revision) bool { return have.Name == r.Name })
	if i < 0 {
		o.revisions = append(o.revisions, r)
	} else {
		o.revisions[i].Number = r.Number
	}
	w.touch(o)
	w.wake(o)
}

// patchPod changes a pod: the conditions first, as they are a write of their
// own.
func (w *World) patchPod(a controller.PatchPod) error {
	e := w.pods[a.Pod.UID]
	if e == nil {
		return fmt.Errorf("pod %s: %w", a.Pod.Name, plan.ErrNotFound)
	}
	rest := a.Change
	rest.Conditions = nil
	if a.Permit && w.opt.GuardUpdates {
		if err := w.permit(e, kruise.PubUpdateOperation, false); err != nil {
			return err
		}
	}
	if len(a.Change.Conditions) > 0 {
		w.change(e, cluster.PodChange{Conditions: a.Change.Conditions}, "")
	}
	if err := w.admitUpdate(e, rest); err != nil {
		return err
	}
	if !empty(rest) {
		w.change(e, rest, "")
	}
	return nil
}

func empty(c cluster.PodChange) bool {
	return len(c.Labels)+len(c.Annotations)+len(c.AddFinalizers)+len(c.RemoveFinalizers)+len(c.Images)+len(c.Resources)+len(c.Restart)+len(c.Reread)+len(c.Conditions) == 0
}

// deletePod begins the deletion of a pod.
func (w *World) deletePod(e *pod, reason string) error {
	if e == nil || w.pods[e.UID] != e {
		return fmt.Errorf("pod: %w", plan.ErrNotFound)
	}
	if e.Deleting {
		return nil
	}
	if err := w.permit(e, kruise.PubDeleteOperation, false); err != nil {
		return err
	}
	next := *e.Pod
	next.Deleting = true
	w.put(e, &next, reason)
	return nil
}

// scaleChild sets the size of a ReplicaSet, which may have to be made first.
func (w *World) scaleChild(o *object, a controller.ScaleChild) error {
	ref := cluster.Ref{Group: "apps", Kind: kruise.KindReplicaSet, Namespace: o.ref.Namespace, Name: a.Name}
	if a.New != nil {
		return w.adopt(o, a.New)
	}
	child, err := w.lookup(ref)
	if err != nil {
		return err
	}
	patch := map[string]any{"spec": map[string]any{"replicas": int64(a.Replicas)}}
	if len(a.Annotations) > 0 {
		annotations := map[string]any{}
		for k, v := range a.Annotations {
			annotations[k] = v
		}
		patch["metadata"] = map[string]any{"annotations": annotations}
	}
	return w.patchHub(child, patch)
}
