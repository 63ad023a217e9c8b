package simulate

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// pod is one pod with its place in the lists, and what its node knows of it. The
// pod itself is shared with everybody who has seen it: a change replaces it.
type pod struct {
	*cluster.Pod
	owner      *object
	inAll, inO int
	// agent is one entry per container.
	agent []container
	// dying is true as soon as the node has begun to stop it, ended when nothing
	// of it runs any more.
	dying, ended bool
	// weights are what it counts for each budget.
	weights []controller.Weight
	// class is how the recorder counts it.
	class class
	// made is what the pod was made from; nil for one that was there before.
	made *blueprint
}

// podList keeps pods and, at the same places, what is in them now, so that a
// controller sees them without a copy.
type podList struct {
	pods []*pod
	now  []*cluster.Pod
}

func (l *podList) add(p *pod) int {
	l.pods, l.now = append(l.pods, p), append(l.now, p.Pod)
	return len(l.now) - 1
}

// drop removes the pod of a place; the last one takes it, and is returned so
// that it learns of it.
func (l *podList) drop(i int) *pod {
	last := len(l.now) - 1
	moved := l.pods[last]
	l.pods[i], l.now[i] = moved, l.now[last]
	l.pods[last], l.now[last] = nil, nil
	l.pods, l.now = l.pods[:last], l.now[:last]
	return moved
}

// insert puts a pod into the cluster.
func (w *World) insert(p *cluster.Pod) *pod {
	p.Digest()
	e := &pod{Pod: p, owner: w.ownerOf(p.Namespace, p.Owner), agent: make([]container, len(p.Containers))}
	w.pods[p.UID], w.names[podName{p.Namespace, p.Name}] = e, e
	e.inAll = w.all.add(e)
	if e.owner != nil {
		e.inO = e.owner.pods.add(e)
	}
	if n := w.nodes[p.Node]; n != nil {
		w.occupy(n, 1)
	}
	w.moves++
	w.weigh(e)
	w.knowNamespace(p.Namespace)
	w.answerHook(e)
	return e
}

// remove takes a pod out of the cluster.
func (w *World) remove(e *pod) {
	w.rec.gone(w, e)
	delete(w.pods, e.UID)
	delete(w.reports, e.UID)
	delete(w.names, podName{e.Namespace, e.Name})
	w.all.drop(e.inAll).inAll = e.inAll
	if e.owner != nil {
		e.owner.pods.drop(e.inO).inO = e.inO
	}
	if n := w.nodes[e.Node]; n != nil {
		w.occupy(n, -1)
		w.retryPending()
	}
	w.moves++
	w.unweigh(e)
	w.orphan(e.Pod)
	w.changed(e, e.Pod, nil)
}

// put replaces a pod, and has everybody look whom it concerns. Whatever follows
// from the change at once, such as Ready from a readiness gate, is part of it.
func (w *World) put(e *pod, next *cluster.Pod, reason string) {
	before := e.Pod
	next = w.ready(next)
	if next == before {
		return
	}
	next.Digest()
	e.Pod = next
	w.all.now[e.inAll] = next
	if e.owner != nil {
		e.owner.pods.now[e.inO] = next
	}
	w.weigh(e)
	if rules.StateOf(before) != rules.StateOf(next) {
		w.answerHook(e)
	}
	w.rec.changed(w, e, before, reason)
	w.changed(e, before, next)
	w.sync(e)
}

// change applies a change to a pod.
func (w *World) change(e *pod, c cluster.PodChange, reason string) {
	w.put(e, e.With(c, w.now()), reason)
	for _, name := range c.Restart {
		w.restart(e, name)
	}
	if w.opt.Agent.Reread {
		for _, name := range c.Reread {
			w.restart(e, name)
		}
	}
}

// changed has the controllers look that see the pod; before and after are nil for
// one that comes or goes. Budgets are counted first: they are the quickest in a
// cluster, too (cases 402, 410).
func (w *World) changed(e *pod, before, after *cluster.Pod) {
	w.active = w.at
	w.wakeBudgets()
	w.wakeSpread(e, before, after)
	if e.owner != nil {
		w.touch(e.owner)
		w.wake(e.owner)
		if e.owner.parent != nil {
			w.wake(e.owner.parent)
		}
	}
	for _, set := range w.sets {
		w.touch(set)
		if spec, ok := set.workload.Object.(*kruise.SidecarSet); ok && controller.WakesSidecarSet(spec, before, after) {
			w.wake(set)
		}
	}
}

// podsOf returns the pods that the object's controller sees, in a list that must
// not be kept.
func (w *World) podsOf(o *object) []*cluster.Pod {
	if o.carrier != nil {
		return w.podsOf(o.carrier)
	}
	return kindOf(o).pods(w, o)
}
