package simulate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// kubelet is the agent of all nodes: it pulls images, starts and stops containers, and reports
// their state.
type kubelet struct {
	*parts

	reports reports
	// pulls counts images that arrived on nodes.
	pulls uint64
	// failing are the pods that [Options.Fail] has chosen, updated how many have
	// been updated.
	failing map[string]bool
	updated int
}

// reports are what nodes report of pods, by uid.
type reports map[string]rules.NodeReport

// reasons for which a container does not run.
const (
	waitingCreating = "ContainerCreating"
	waitingBackOff  = "ImagePullBackOff"
	waitingCrash    = "CrashLoopBackOff"
	waitingEnded    = "Completed"
)

// syncPod has the node do what the pod asks for. It is called after each change.
func (k *kubelet) syncPod(e *pod) {
	if e.Node == "" {
		if e.Deleting {
			k.pods.remove(e)
		}
		return
	}
	if e.Deleting {
		k.stopPod(e)
		return
	}
	for i := range e.runtime {
		if e.runtime[i].image != e.Containers[i].Image {
			// Stop a container at once and start it with the image that the pod asks for. One whose image could not be pulled
			// starts without delay.
			c := &e.runtime[i]
			repaired := c.failed
			c.image, c.failed, c.crashes = e.Containers[i].Image, false, 0
			c.generation++
			k.stopContainer(e, i)
			start := k.opt.Agent.Start.draw(k.chance)
			if repaired {
				start = atOnce
			}
			k.pullAndStart(e, i, start)
		}
	}
	if len(e.runtime) > 0 {
		k.syncReadiness(e)
	}
}

// resumePod has the node go on with what it was doing.
func (k *kubelet) resumePod(e *pod) {
	switch {
	case e.Deleting:
		k.stopPod(e)
	case e.Node == "":
		if k.recovers(e) {
			k.scheduler.pending = append(k.scheduler.pending, e)
		}
	default:
		for i := range e.runtime {
			a := &e.runtime[i]
			if !k.recovers(e) {
				a.image = cmp.Or(a.image, e.Containers[i].Image) // which is what it would start with
				continue
			}
			if a.running && !a.healthy {
				turn := a.generation
				k.clock.after(k.opt.Agent.Ready.draw(k.chance), func() { k.markHealthy(e, i, turn) })
			}
		}
		k.syncPod(e)
	}
}

// recovers reports whether a pod that is not ready in the beginning becomes ready.
func (k *kubelet) recovers(e *pod) bool {
	return k.opt.RecoverAll || k.opt.Recover[e.UID]
}

// restartContainer stops a container and starts it again with its image.
func (k *kubelet) restartContainer(e *pod, name string) {
	for i := range e.Containers {
		if e.Containers[i].Name == name && e.runtime[i].running {
			e.runtime[i].generation++
			k.reports[e.UID] = rules.NodeReport{Resources: true}
			k.budgets.tally(e)
			k.stopContainer(e, i)
			k.pullAndStart(e, i, k.opt.Agent.Start.draw(k.chance))
		}
	}
}

// stopContainer stops a running container.
func (k *kubelet) stopContainer(e *pod, i int) {
	if !e.runtime[i].running {
		return
	}
	e.runtime[i].running, e.runtime[i].healthy = false, false
	k.setContainer(e, i, func(c *cluster.Container) { c.Ready, c.Waiting = false, waitingCreating })
}

// atOnce is before anything else happens: a node is quicker than a controller that
// writes pod after pod.
const atOnce time.Duration = -1

// pullAndStart starts a container as soon as its image is on the node, after the delay that
// nodes take.
func (k *kubelet) pullAndStart(e *pod, i int, start time.Duration) {
	turn, image := e.runtime[i].generation, e.runtime[i].image
	if k.unpullable(image) {
		k.clock.after(max(start, 0), func() { k.backOff(e, i, turn) })
		return
	}
	k.pull(k.scheduler.nodes[e.Node], image, func() {
		if start == atOnce {
			k.startContainer(e, i, turn)
			return
		}
		k.clock.after(start, func() { k.startContainer(e, i, turn) })
	})
}

// isCurrent reports whether what was planned for the container still counts.
func (k *kubelet) isCurrent(e *pod, i, turn int) bool {
	return k.store.podsByUID[e.UID] == e && e.runtime[i].generation == turn
}

func (k *kubelet) backOff(e *pod, i, turn int) {
	if !k.isCurrent(e, i, turn) {
		return
	}
	e.runtime[i].failed = true
	k.setContainer(e, i, func(c *cluster.Container) { c.Reported, c.Ready, c.Waiting = true, false, waitingBackOff })
}

// startContainer starts a container; it is ready later, see [kubelet.syncReadiness].
func (k *kubelet) startContainer(e *pod, i, turn int) {
	if !k.isCurrent(e, i, turn) {
		return
	}
	a := &e.runtime[i]
	again := a.started
	a.started, a.running = true, true
	delay := k.opt.Agent.Ready.draw(k.chance)
	o := k.override(e.Pod)
	if o.Ready != nil {
		delay = o.Ready.draw(k.chance)
	}
	k.setContainer(e, i, func(c *cluster.Container) {
		c.Reported, c.StatusImage, c.ImageID, c.Waiting = true, a.image, imageID(a.image), ""
		a.healthy = delay == 0 && !o.Crash
		c.Ready = a.healthy && !o.Unready
		if again {
			c.Restarts++
		}
	})
	k.clearReport(e)
	switch {
	case o.Crash:
		k.clock.after(time.Second, func() { k.crashContainer(e, i, turn) })
	case delay > 0:
		k.clock.after(delay, func() { k.markHealthy(e, i, turn) })
	}
}

// clearReport forgets that containers of the pod had to restart, once all run.
func (k *kubelet) clearReport(e *pod) {
	for i := range e.runtime {
		if !e.runtime[i].running {
			return
		}
	}
	if _, reported := k.reports[e.UID]; reported {
		delete(k.reports, e.UID)
		k.budgets.tally(e)
	}
}

// markHealthy is the moment from which a container may be ready.
func (k *kubelet) markHealthy(e *pod, i, turn int) {
	if k.isCurrent(e, i, turn) {
		e.runtime[i].healthy = true
		k.syncReadiness(e)
	}
}

// backOffs are how long a crashed container waits, at first and at most.
const (
	backOffFirst = 10 * time.Second
	backOffMost  = 5 * time.Minute
)

func (k *kubelet) crashContainer(e *pod, i, turn int) {
	if !k.isCurrent(e, i, turn) || e.stopping {
		return
	}
	a := &e.runtime[i]
	a.running, a.healthy = false, false
	a.generation++
	a.crashes++
	k.setContainer(e, i, func(c *cluster.Container) { c.Ready, c.Waiting = false, waitingCrash })
	turn = a.generation
	k.clock.after(min(backOffFirst<<min(a.crashes-1, 10), backOffMost), func() { k.startContainer(e, i, turn) })
}

// syncReadiness reports which containers are ready: those that have run for long enough,
// unless something about the pod keeps them from it.
func (k *kubelet) syncReadiness(e *pod) {
	unready := k.override(e.Pod).Unready
	for i := range e.runtime {
		want := e.runtime[i].healthy && !unready
		if e.runtime[i].running && e.Containers[i].Ready != want {
			k.setContainer(e, i, func(c *cluster.Container) { c.Ready = want })
		}
	}
}

// override is what is special about a pod.
func (k *kubelet) override(p *cluster.Pod) Override {
	var o Override
	if k.opt.Agent.Override != nil {
		o = k.opt.Agent.Override(p)
	}
	o.Unready = o.Unready || k.failing[p.UID]
	return o
}

// setContainer changes the status of one container, and the pod's phase with it.
func (k *kubelet) setContainer(e *pod, i int, set func(*cluster.Container)) {
	next := *e.Pod
	next.Containers = append([]cluster.Container(nil), e.Containers...)
	set(&next.Containers[i])
	if next.Phase == corev1.PodPending && !slices.ContainsFunc(e.runtime, func(c container) bool { return !c.started }) {
		next.Phase = corev1.PodRunning
		// Init containers after they have done their work; it takes no time here.
		out := append([]cluster.Container(nil), next.InitContainers...)
		for i := range out {
			out[i].Reported, out[i].Ready = true, true
			out[i].StatusImage, out[i].ImageID = out[i].Image, imageID(out[i].Image)
		}
		next.InitContainers = out
	}
	k.pods.put(e, &next, "")
}

// imageID is what the model reports as the digest of an image.
func imageID(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "sha256:" + hex.EncodeToString(sum[:6])
}

// stopPod ends a pod: its containers stop together, and it is gone unless a
// finalizer holds it.
func (k *kubelet) stopPod(e *pod) {
	if e.stopping {
		k.removeStopped(e)
		return
	}
	e.stopping = true
	k.clock.after(k.opt.Agent.Stop.draw(k.chance), func() {
		if k.store.podsByUID[e.UID] == e {
			e.stopped = true
			next := *e.Pod
			next.Containers = append([]cluster.Container(nil), e.Containers...)
			for i := range next.Containers {
				e.runtime[i].generation++
				e.runtime[i].running = false
				next.Containers[i].Ready, next.Containers[i].Waiting = false, waitingEnded
			}
			k.pods.put(e, &next, "")
			k.removeStopped(e)
		}
	})
}

// removeStopped removes a pod that has ended and that nothing holds.
func (k *kubelet) removeStopped(e *pod) {
	if e.stopped && len(e.Finalizers) == 0 && k.store.podsByUID[e.UID] == e {
		k.pods.remove(e)
	}
}

// chooseFailing decides whether a pod that is now at the update revision will ever be
// ready, see [Options.Fail].
func (k *kubelet) chooseFailing(e *pod, before string) {
	if len(k.opt.Fail) == 0 || !k.recorder.owns(e) || !updated(k.recorder.target, e.Pod, k.recorder.revision) || before == revisionOf(e.Pod) {
		return
	}
	k.updated++
	if slices.Contains(k.opt.Fail, k.updated) {
		k.failing[e.UID] = true
	}
}

// pull has an image on a node and then calls back: at once when it is there. A caller that
// asks for an image that is on its way waits for it with the others.
func (k *kubelet) pull(n *node, image string, then func()) {
	if n == nil || n.images[image] || (k.opt.Agent.Pull == Span{}) {
		if n != nil && !n.images[image] {
			n.images[image] = true
			k.pulls++
		}
		then()
		return
	}
	if due, pulling := n.pulling[image]; pulling {
		k.clock.after(due-k.clock.at, then)
		return
	}
	d := k.opt.Agent.Pull.draw(k.chance)
	n.pulling[image] = k.clock.at + d
	k.clock.after(d, func() {
		n.images[image] = true
		k.recorder.pulls++
		k.pulls++
		k.store.version++
		k.clock.active = k.clock.at
		delete(n.pulling, image)
		then()
	})
}

func (k *kubelet) unpullable(image string) bool {
	return slices.ContainsFunc(k.opt.Agent.Unpullable, func(end string) bool { return strings.HasSuffix(image, end) })
}

// withReadiness sets the conditions ContainersReady and Ready as the node does: every container is
// ready, and for Ready every readiness gate is open, too; a gate without condition is shut. A
// real node takes a third of a second for it (docs/facts/kubelet.md#readiness-gates), the
// model no time.
func (k *kubelet) withReadiness(p *cluster.Pod) *cluster.Pod {
	if p.Node == "" {
		return p
	}
	containers := containersReadyCondition(p)
	ready := readyCondition(p, containers)
	if hasCondition(p, containers) && hasCondition(p, ready) {
		return p
	}
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{containers, ready}}, k.clock.now())
}

// hasCondition reports whether a pod has a condition already.
func hasCondition(p *cluster.Pod, want cluster.Condition) bool {
	have, ok := p.Condition(want.Type)
	return ok && have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message
}

func containersReadyCondition(p *cluster.Pod) cluster.Condition {
	kind := string(corev1.ContainersReady)
	var unready []string
	for i := range p.Containers {
		if !p.Containers[i].Ready {
			unready = append(unready, p.Containers[i].Name)
		}
	}
	if len(unready) > 0 {
		return cluster.SetTo(kind, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: ["+strings.Join(unready, " ")+"]")
	}
	return cluster.SetTo(kind, corev1.ConditionTrue, "", "")
}

// readyCondition is the condition Ready of a pod whose containers are as they are.
func readyCondition(p *cluster.Pod, containers cluster.Condition) cluster.Condition {
	kind := string(corev1.PodReady)
	if containers.Status != corev1.ConditionTrue {
		containers.Type = kind
		return containers
	}
	shut := slices.IndexFunc(p.ReadinessGates, func(gate string) bool {
		c, _ := p.Condition(gate)
		return c.Status != corev1.ConditionTrue
	})
	if shut >= 0 {
		return cluster.SetTo(kind, corev1.ConditionFalse, "ReadinessGatesNotReady", "the status of pod readiness gate \""+p.ReadinessGates[shut]+"\" is not \"True\"")
	}
	return cluster.SetTo(kind, corev1.ConditionTrue, "", "")
}

func isReady(p *cluster.Pod) bool {
	c, _ := p.Condition(string(corev1.PodReady))
	return c.Status == corev1.ConditionTrue
}
