package life

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Step looks at the pod at one moment, lets happen what is due, and says what the
// pod's status is then.
func (p *Pod) Step(now time.Time, pod *corev1.Pod, host *Host) Result {
	r := Result{}
	t := turn{now: now, pod: pod, host: host, script: pod.Annotations, restart: pod.Spec.RestartPolicy, result: &r}
	switch {
	case pod.DeletionTimestamp != nil:
		r.Gone = p.terminate(t)
	case !p.ended:
		p.progress(t)
	}
	r.Status = p.status(t)
	p.ended = final(r.Status.Phase)
	return r
}

// progress brings the pod forward: address, init containers one by one, then the
// rest at once.
func (p *Pod) progress(t turn) {
	if p.sandbox.IsZero() {
		p.sandbox = t.now.Add(t.host.Timing.Sandbox)
	}
	if t.now.Before(p.sandbox) {
		t.wake(p.sandbox)
		return
	}
	t.closing = p.complete(t.pod) // sidecars that end now stay that way
	if p.initialize(t) {
		for i := range t.pod.Spec.Containers {
			p.take(t, &t.pod.Spec.Containers[i], regular)
		}
		for i := range t.pod.Spec.EphemeralContainers {
			spec := corev1.Container(t.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
			p.take(t, &spec, ephemeral)
		}
	}
	if p.complete(t.pod) {
		p.closeSidecars(t)
	}
}

// initialize runs the init containers and reports whether all are done: a regular
// one has succeeded, a sidecar has started. A sidecar that has started once does not delay
// the others when it restarts.
func (p *Pod) initialize(t turn) bool {
	for i := range t.pod.Spec.InitContainers {
		spec := &t.pod.Spec.InitContainers[i]
		c := p.take(t, spec, roleOf(spec))
		if !c.passed(roleOf(spec)) {
			return false
		}
	}
	return true
}

// passed reports whether what comes after an init container may start.
func (c *container) passed(r role) bool {
	if r == sidecar {
		return c.id != ""
	}
	return c.state == exited && c.code == 0
}

func roleOf(spec *corev1.Container) role {
	if spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
		return sidecar
	}
	return initial
}

// take gives one container its turn. A plain init container that succeeded is
// over: patching its image does nothing.
func (p *Pod) take(t turn, spec *corev1.Container, r role) *container {
	c := p.containers[spec.Name]
	if c == nil {
		c = &container{name: spec.Name, image: spec.Image, reason: "ContainerCreating"}
		p.containers[spec.Name] = c
	}
	if c.resources == nil {
		c.resources = spec.Resources.DeepCopy()
	}
	if r == initial && c.passed(initial) {
		return c
	}
	t.spec, t.role = spec, r
	c.advance(t)
	return c
}

// complete reports whether every regular container has ended for good.
func (p *Pod) complete(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		c := p.containers[pod.Spec.Containers[i].Name]
		back := turn{restart: pod.Spec.RestartPolicy, role: regular}
		if c == nil || c.state != exited || c.replace || back.revives(c.code) {
			return false
		}
	}
	return true
}

// closeSidecars ends the sidecars after the last regular container.
func (p *Pod) closeSidecars(t turn) {
	t.closing = true
	for i := range t.pod.Spec.InitContainers {
		if spec := &t.pod.Spec.InitContainers[i]; roleOf(spec) == sidecar {
			p.end(t, spec, sidecar)
		}
	}
}

// terminate ends all containers within the grace period that the deletion gave
// and says whether all is over.
func (p *Pod) terminate(t turn) bool {
	// A second deletion may leave less than the first.
	if limit := t.now.Add(t.deletionGrace()); p.limit.IsZero() || limit.Before(p.limit) {
		p.limit = limit
	}
	t.closing = true
	over := true
	for _, s := range specs(t.pod) {
		over = p.end(t, s.spec, s.role) && over
	}
	return over
}

// end stops a container that runs and says whether it is over.
func (p *Pod) end(t turn, spec *corev1.Container, r role) bool {
	c := p.containers[spec.Name]
	if c == nil {
		return true
	}
	t.spec, t.role = spec, r
	c.replace = false
	if c.state == running {
		c.stop(t, t.deletionGrace())
	}
	if c.state == stopping {
		if t.pod.DeletionTimestamp != nil && p.limit.Before(c.until) {
			c.until, c.code = p.limit, 137
		}
		return c.due(t) && c.ended(t, c.code)
	}
	return true
}

// deletionGrace is what the deletion leaves, which may be less than the spec's.
func (t turn) deletionGrace() time.Duration {
	if s := t.pod.DeletionGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return t.grace()
}

// placed is a container's spec with its role.
type placed struct {
	spec *corev1.Container
	role role
}

// specs lists all containers of the pod.
func specs(pod *corev1.Pod) []placed {
	var out []placed
	for i := range pod.Spec.InitContainers {
		out = append(out, placed{&pod.Spec.InitContainers[i], roleOf(&pod.Spec.InitContainers[i])})
	}
	for i := range pod.Spec.Containers {
		out = append(out, placed{&pod.Spec.Containers[i], regular})
	}
	for i := range pod.Spec.EphemeralContainers {
		spec := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		out = append(out, placed{&spec, ephemeral})
	}
	return out
}
