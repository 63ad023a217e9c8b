package simulate

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// podRegistry takes every change of a pod, by users, controllers and the kubelet, stores it and
// wakes what watches the pod.
type podRegistry struct {
	*parts

	// hookAnswer is after how long lifecycle hooks are answered; 0 and less is never.
	hookAnswer plan.HookAnswer
}

// insert puts a pod into the cluster.
func (r *podRegistry) insert(p *cluster.Pod) *pod {
	p.Digest()
	e := &pod{Pod: p, owner: r.store.ownerOf(p.Namespace, p.Owner), runtime: make([]container, len(p.Containers))}
	r.store.podsByUID[p.UID], r.store.podsByName[podName{p.Namespace, p.Name}] = e, e
	e.inAll = r.store.all.add(e)
	if e.owner != nil {
		e.inO = e.owner.pods.add(e)
	}
	if n := r.scheduler.nodes[p.Node]; n != nil {
		r.scheduler.occupy(n, 1)
	}
	r.store.moves++
	r.budgets.tally(e)
	r.api.ensureNamespace(p.Namespace)
	r.answerHook(e)
	return e
}

// remove takes a pod out of the cluster.
func (r *podRegistry) remove(e *pod) {
	r.recorder.removed(e)
	delete(r.store.podsByUID, e.UID)
	delete(r.kubelet.reports, e.UID)
	delete(r.store.podsByName, podName{e.Namespace, e.Name})
	last := r.store.all.drop(e.inAll)
	last.inAll = e.inAll
	r.budgets.moved(last)
	if e.owner != nil {
		e.owner.pods.drop(e.inO).inO = e.inO
	}
	if n := r.scheduler.nodes[e.Node]; n != nil {
		r.scheduler.occupy(n, -1)
		r.scheduler.retryPending()
	}
	r.store.moves++
	r.budgets.untally(e)
	r.budgets.dismiss(e)
	r.claims.releaseClaimsOf(e.Pod)
	r.changed(e, e.Pod, nil)
}

// put replaces a pod, and wakes what watches it. Whatever follows
// from the change at once, such as Ready from a readiness gate, is part of it.
func (r *podRegistry) put(e *pod, next *cluster.Pod, reason string) {
	before := e.Pod
	next = r.kubelet.withReadiness(next)
	if next == before {
		return
	}
	next.Digest()
	e.Pod = next
	r.store.all.set(e.inAll, next)
	if e.owner != nil {
		e.owner.pods.set(e.inO, next)
	}
	r.budgets.tally(e)
	if rules.StateOf(before) != rules.StateOf(next) {
		r.answerHook(e)
	}
	r.recorder.changed(e, before, reason)
	r.changed(e, before, next)
	r.kubelet.syncPod(e)
}

// change applies a change to a pod.
func (r *podRegistry) change(e *pod, c cluster.PodChange, reason string) {
	r.put(e, e.With(c, r.clock.now()), reason)
	for _, name := range c.Restart {
		r.kubelet.restartContainer(e, name)
	}
	if r.opt.Agent.Reread {
		for _, name := range c.Reread {
			r.kubelet.restartContainer(e, name)
		}
	}
}

// changed has the controllers look that see the pod; before and after are nil for
// one that comes or goes. Budgets are counted first: they are the quickest in a
// cluster, too (cases 402, 410).
func (r *podRegistry) changed(e *pod, before, after *cluster.Pod) {
	r.clock.active = r.clock.at
	r.budgets.wake()
	r.spreads.wake(e, before, after)
	if e.owner != nil {
		r.store.touch(e.owner)
		r.controllers.wake(e.owner)
		if e.owner.parent != nil {
			r.controllers.wake(e.owner.parent)
		}
	}
	for _, set := range r.store.sets {
		r.store.touch(set)
		if spec, ok := set.workload.Object.(*kruise.SidecarSet); ok && controller.WakesSidecarSet(spec, before, after) {
			r.controllers.wake(set)
		}
	}
}

// patchPod changes labels, annotations, finalizers, images or conditions of a
// pod. A budget may refuse it.
func (r *podRegistry) patchPod(ref plan.PodRef, c cluster.PodChange) error {
	e, err := r.store.findPod(ref)
	if err != nil {
		return err
	}
	rest := c
	rest.Conditions = nil
	if err := r.admitUpdate(e, rest); err != nil {
		return err
	}
	r.recorder.writes++
	r.change(e, c, "")
	return nil
}

// admitUpdate is the webhook that sees every update of a pod's spec and metadata.
func (r *podRegistry) admitUpdate(e *pod, c cluster.PodChange) error {
	if !r.opt.GuardUpdates || c.Empty() {
		return nil
	}
	return r.budgets.permit(e, kruise.PubUpdateOperation, controller.Harmless(e.Pod, e.With(c, r.clock.now())))
}

// deleteByHand deletes a pod by hand. A PodUnavailableBudget may refuse it.
func (r *podRegistry) deleteByHand(ref plan.PodRef) error {
	e, err := r.store.findPod(ref)
	if err != nil {
		return err
	}
	r.recorder.writes++
	return r.delete(e, "deleted by hand")
}

// delete begins the deletion of a pod.
func (r *podRegistry) delete(e *pod, reason string) error {
	if e == nil || r.store.podsByUID[e.UID] != e {
		return fmt.Errorf("pod: %w", plan.ErrNotFound)
	}
	if e.Deleting {
		return nil
	}
	if err := r.budgets.permit(e, kruise.PubDeleteOperation, false); err != nil {
		return err
	}
	next := *e.Pod
	next.Deleting = true
	r.put(e, &next, reason)
	return nil
}

// evict evicts a pod: the budgets of both kinds are asked.
func (r *podRegistry) evict(ref plan.PodRef) error {
	e, err := r.store.findPod(ref)
	if err != nil {
		return err
	}
	r.recorder.writes++
	if e.Deleting {
		return nil
	}
	if err := r.budgets.admitEviction(e); err != nil {
		return err
	}
	next := *e.Pod
	next.Deleting = true
	r.put(e, &next, "evicted")
	return nil
}

// answerHooks has a program outside Kruise answer lifecycle hooks so long after a pod came
// to wait for one; 0 and less is never.
func (r *podRegistry) answerHooks(after plan.HookAnswer) {
	if r.hookAnswer = after; after <= 0 {
		return
	}
	for _, e := range r.store.all.pods {
		r.answerHook(e)
	}
}

// answerHook plans the answer to the hook that a pod waits for, if any.
func (r *podRegistry) answerHook(e *pod) {
	if r.hookAnswer <= 0 {
		return
	}
	state := rules.StateOf(e.Pod)
	if _, held := rules.HeldBy(e.Pod, lifecycleOf(e)); !held {
		return
	}
	r.clock.after(time.Duration(r.hookAnswer), func() {
		hold, held := rules.HeldBy(e.Pod, lifecycleOf(e))
		if held && r.store.podsByUID[e.UID] == e && rules.StateOf(e.Pod) == state {
			r.change(e, hold.Answer, "the hook "+hold.Hook+" is answered")
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
