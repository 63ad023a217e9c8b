package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// container is what the node knows of one container beyond the pod's status.
type container struct {
	// image is what runs, or what is being started.
	image string
	// begun is whether a container of this name has ever run, healthy whether it
	// has run for long enough to be ready.
	begun, running, healthy bool
	// failed is whether the image could not be pulled.
	failed  bool
	crashes int
	// turn changes whenever what was planned for the container is void.
	turn int
}

// reasons for which a container does not run.
const (
	waitingCreating = "ContainerCreating"
	waitingBackOff  = "ImagePullBackOff"
	waitingCrash    = "CrashLoopBackOff"
	waitingEnded    = "Completed"
)

// reports are the pods of which nodes have something to say, by uid.
type reports map[string]rules.NodeReport

// sync has the node do what the pod asks for. It is called after each change.
func (w *World) sync(e *pod) {
	if e.Node == "" {
		if e.Deleting {
			w.remove(e)
		}
		return
	}
	if e.Deleting {
		w.stop(e)
		return
	}
	for i := range e.agent {
		if e.agent[i].image != e.Containers[i].Image {
			w.replace(e, i)
		}
	}
	if len(e.agent) > 0 {
		w.health(e)
	}
}

// replace stops a container at once and starts it with the image that the pod
// asks for. One whose image could not be pulled starts without delay.
func (w *World) replace(e *pod, i int) {
	c := &e.agent[i]
	repaired := c.failed
	c.image, c.failed, c.crashes = e.Containers[i].Image, false, 0
	c.turn++
	w.halt(e, i)
	start := w.opt.Agent.Start.draw(&w.chance)
	if repaired {
		start = atOnce
	}
	w.fetch(e, i, start)
}

// restart stops a container and starts it again with its image.
func (w *World) restart(e *pod, name string) {
	for i := range e.Containers {
		if e.Containers[i].Name == name && e.agent[i].running {
			e.agent[i].turn++
			w.reports[e.UID] = rules.NodeReport{Resources: true}
			w.weigh(e)
			w.halt(e, i)
			w.fetch(e, i, w.opt.Agent.Start.draw(&w.chance))
		}
	}
}

// halt stops a running container.
func (w *World) halt(e *pod, i int) {
	if !e.agent[i].running {
		return
	}
	e.agent[i].running, e.agent[i].healthy = false, false
	w.setContainer(e, i, func(c *cluster.Container) { c.Ready, c.Waiting = false, waitingCreating })
}

// atOnce is before anything else happens: a node is quicker than a controller that
// writes pod after pod.
const atOnce time.Duration = -1

// fetch starts a container as soon as its image is on the node, after the delay that
// nodes take.
func (w *World) fetch(e *pod, i int, start time.Duration) {
	turn, image := e.agent[i].turn, e.agent[i].image
	if w.unpullable(image) {
		w.after(max(start, 0), func() { w.backOff(e, i, turn) })
		return
	}
	w.pull(w.nodes[e.Node], image, func() {
		if start == atOnce {
			w.begin(e, i, turn)
			return
		}
		w.after(start, func() { w.begin(e, i, turn) })
	})
}

// current reports whether what was planned for the container still counts.
func (w *World) current(e *pod, i, turn int) bool {
	return w.pods[e.UID] == e && e.agent[i].turn == turn
}

func (w *World) backOff(e *pod, i, turn int) {
	if !w.current(e, i, turn) {
		return
	}
	e.agent[i].failed = true
	w.setContainer(e, i, func(c *cluster.Container) { c.Reported, c.Ready, c.Waiting = true, false, waitingBackOff })
}

// begin starts a container; it is ready later, see [World.health].
func (w *World) begin(e *pod, i, turn int) {
	if !w.current(e, i, turn) {
		return
	}
	a := &e.agent[i]
	again := a.begun
	a.begun, a.running = true, true
	delay := w.opt.Agent.Ready.draw(&w.chance)
	o := w.override(e.Pod)
	if o.Ready != nil {
		delay = o.Ready.draw(&w.chance)
	}
	w.setContainer(e, i, func(c *cluster.Container) {
		c.Reported, c.StatusImage, c.ImageID, c.Waiting = true, a.image, imageID(a.image), ""
		a.healthy = delay == 0 && !o.Crash
		c.Ready = a.healthy && !o.Unready
		if again {
			c.Restarts++
		}
	})
	w.report(e)
	switch {
	case o.Crash:
		w.after(time.Second, func() { w.crash(e, i, turn) })
	case delay > 0:
		w.after(delay, func() { w.healthy(e, i, turn) })
	}
}

// report forgets that containers of the pod had to restart, once all run.
func (w *World) report(e *pod) {
	for i := range e.agent {
		if !e.agent[i].running {
			return
		}
	}
	if _, reported := w.reports[e.UID]; reported {
		delete(w.reports, e.UID)
		w.weigh(e)
	}
}

// healthy is the moment from which a container may be ready.
func (w *World) healthy(e *pod, i, turn int) {
	if w.current(e, i, turn) {
		e.agent[i].healthy = true
		w.health(e)
	}
}

// backOffs are how long a crashed container waits, at first and at most.
const (
	backOffFirst = 10 * time.Second
	backOffMost  = 5 * time.Minute
)

func (w *World) crash(e *pod, i, turn int) {
	if !w.current(e, i, turn) || e.dying {
		return
	}
	a := &e.agent[i]
	a.running, a.healthy = false, false
	a.turn++
	a.crashes++
	w.setContainer(e, i, func(c *cluster.Container) { c.Ready, c.Waiting = false, waitingCrash })
	turn = a.turn
	w.after(min(backOffFirst<<min(a.crashes-1, 10), backOffMost), func() { w.begin(e, i, turn) })
}

// health says which containers are ready: those that have run for long enough,
// unless something about the pod keeps them from it.
func (w *World) health(e *pod) {
	unready := w.override(e.Pod).Unready
	for i := range e.agent {
		want := e.agent[i].healthy && !unready
		if e.agent[i].running && e.Containers[i].Ready != want {
			w.setContainer(e, i, func(c *cluster.Container) { c.Ready = want })
		}
	}
}

// override is what is special about a pod.
func (w *World) override(p *cluster.Pod) Override {
	var o Override
	if w.opt.Agent.Override != nil {
		o = w.opt.Agent.Override(p)
	}
	o.Unready = o.Unready || w.failing[p.UID]
	return o
}

// setContainer changes the status of one container, and the pod's phase with it.
func (w *World) setContainer(e *pod, i int, set func(*cluster.Container)) {
	next := *e.Pod
	next.Containers = append([]cluster.Container(nil), e.Containers...)
	set(&next.Containers[i])
	if next.Phase == corev1.PodPending && started(e.agent) {
		next.Phase = corev1.PodRunning
		next.InitContainers = finished(next.InitContainers)
	}
	w.put(e, &next, "")
}

func started(all []container) bool {
	for i := range all {
		if !all[i].begun {
			return false
		}
	}
	return true
}

// finished are init containers after they have done their work; it takes no
// time here.
func finished(list []cluster.Container) []cluster.Container {
	out := append([]cluster.Container(nil), list...)
	for i := range out {
		out[i].Reported, out[i].Ready = true, true
		out[i].StatusImage, out[i].ImageID = out[i].Image, imageID(out[i].Image)
	}
	return out
}

// imageID stands for the digest of an image.
func imageID(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "sha256:" + hex.EncodeToString(sum[:6])
}

// stop ends a pod: its containers stop together, and it is gone unless a
// finalizer holds it.
func (w *World) stop(e *pod) {
	if e.dying {
		w.release(e)
		return
	}
	e.dying = true
	w.after(w.opt.Agent.Stop.draw(&w.chance), func() {
		if w.pods[e.UID] == e {
			w.end(e)
		}
	})
}

func (w *World) end(e *pod) {
	e.ended = true
	next := *e.Pod
	next.Containers = append([]cluster.Container(nil), e.Containers...)
	for i := range next.Containers {
		e.agent[i].turn++
		e.agent[i].running = false
		next.Containers[i].Ready, next.Containers[i].Waiting = false, waitingEnded
	}
	w.put(e, &next, "")
	w.release(e)
}

// release removes a pod that has ended and that nothing holds.
func (w *World) release(e *pod) {
	if e.ended && len(e.Finalizers) == 0 && w.pods[e.UID] == e {
		w.remove(e)
	}
}
