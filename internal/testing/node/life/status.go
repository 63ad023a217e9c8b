package life

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status is the pod's status as it is now. What others write into it stays.
func (p *Pod) status(t turn) corev1.PodStatus {
	s := *t.pod.Status.DeepCopy()
	s.ObservedGeneration = t.pod.Generation
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: t.now}
	}
	s.HostIP, s.HostIPs = t.host.IP, []corev1.HostIP{{IP: t.host.IP}}
	if p.sandboxed(t.now) && !final(s.Phase) {
		s.PodIP, s.PodIPs = p.IP, []corev1.PodIP{{IP: p.IP}}
		if t.pod.Spec.HostNetwork {
			s.PodIP, s.PodIPs = t.host.IP, []corev1.PodIP{{IP: t.host.IP}}
		}
	}
	s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses = nil, nil, nil
	for _, c := range specs(t.pod) {
		one := p.containerStatus(t, c)
		switch c.role {
		case regular:
			s.ContainerStatuses = append(s.ContainerStatuses, one)
		case ephemeral:
			s.EphemeralContainerStatuses = append(s.EphemeralContainerStatuses, one)
		default:
			s.InitContainerStatuses = append(s.InitContainerStatuses, one)
		}
	}
	s.Phase = p.phase(t)
	p.conditions(t, &s)
	return s
}

// sandboxed reports whether the pod has its address.
func (p *Pod) sandboxed(now time.Time) bool {
	return !p.sandbox.IsZero() && !now.Before(p.sandbox)
}

// phase never goes back from a final one. A pod that is deleted before its
// containers ended is Failed or Succeeded by their codes, as if they had.
func (p *Pod) phase(t turn) corev1.PodPhase {
	now := t.pod.Status.Phase
	if final(now) {
		return now
	}
	over := p.complete(t.pod) && p.sidecarsStopped(t.pod)
	if t.pod.DeletionTimestamp != nil {
		over = p.stopped(t.pod)
	}
	switch {
	case over && p.succeeded(t.pod):
		return corev1.PodSucceeded
	case over:
		return corev1.PodFailed
	case now == corev1.PodRunning || p.started(t.pod):
		return corev1.PodRunning
	}
	return corev1.PodPending
}

// each asks about the regular containers that the node knows.
func (p *Pod) each(pod *corev1.Pod, holds func(*container) bool) bool {
	for i := range pod.Spec.Containers {
		c := p.containers[pod.Spec.Containers[i].Name]
		if c == nil || !holds(c) {
			return false
		}
	}
	return true
}

func (p *Pod) stopped(pod *corev1.Pod) bool {
	return p.each(pod, func(c *container) bool { return c.state == exited })
}

// sidecarsStopped reports whether no sidecar runs any more: a pod is not over before.
func (p *Pod) sidecarsStopped(pod *corev1.Pod) bool {
	for i := range pod.Spec.InitContainers {
		c := p.containers[pod.Spec.InitContainers[i].Name]
		if c != nil && (c.state == running || c.state == stopping) {
			return false
		}
	}
	return true
}

func (p *Pod) succeeded(pod *corev1.Pod) bool {
	return p.each(pod, func(c *container) bool { return c.code == 0 })
}

// started reports whether every regular container has run at least once.
func (p *Pod) started(pod *corev1.Pod) bool {
	return p.each(pod, func(c *container) bool { return c.id != "" })
}

// conditions sets those of the kubelet.
func (p *Pod) conditions(t turn, s *corev1.PodStatus) {
	done := ""
	switch s.Phase {
	case corev1.PodSucceeded:
		done = "PodCompleted"
	case corev1.PodFailed:
		done = "PodFailed"
	}
	containers, reason := containersReady(s), "ContainersNotReady"
	ready := containers && gatesOpen(t.pod)
	if containers {
		reason = "ReadinessGatesNotReady"
	}
	if done != "" {
		containers, ready, reason = false, false, done
	}
	p.condition(t, s, corev1.PodReadyToStartContainers, p.sandboxed(t.now) && done == "", "")
	p.condition(t, s, corev1.PodInitialized, p.initialized(t.pod), "ContainersNotInitialized")
	p.condition(t, s, corev1.PodReady, ready, reason)
	p.condition(t, s, corev1.ContainersReady, containers, reason)
}

// condition sets one condition; its time moves only when its status does.
func (p *Pod) condition(t turn, s *corev1.PodStatus, kind corev1.PodConditionType, holds bool, reason string) {
	next := corev1.PodCondition{
		Type: kind, Status: corev1.ConditionFalse, Reason: reason,
		LastTransitionTime: metav1.NewTime(t.now), ObservedGeneration: t.pod.Generation,
	}
	if holds {
		next.Status, next.Reason = corev1.ConditionTrue, ""
	}
	i := slices.IndexFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		s.Conditions = append(s.Conditions, next)
		return
	}
	if s.Conditions[i].Status == next.Status {
		next.LastTransitionTime = s.Conditions[i].LastTransitionTime
	}
	s.Conditions[i] = next
}

// containersReady asks regular containers and sidecars.
func containersReady(s *corev1.PodStatus) bool {
	notReady := func(c corev1.ContainerStatus) bool { return !c.Ready }
	return !slices.ContainsFunc(s.ContainerStatuses, notReady) && !slices.ContainsFunc(s.InitContainerStatuses, notReady)
}

// gatesOpen reports whether all readiness gates are True; a missing one is not.
func gatesOpen(pod *corev1.Pod) bool {
	for _, g := range pod.Spec.ReadinessGates {
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == g.ConditionType && c.Status == corev1.ConditionTrue
		}) {
			return false
		}
	}
	return true
}

// initialized reports whether all init containers are through.
func (p *Pod) initialized(pod *corev1.Pod) bool {
	for i := range pod.Spec.InitContainers {
		spec := &pod.Spec.InitContainers[i]
		if c := p.containers[spec.Name]; c == nil || !c.passed(roleOf(spec)) {
			return false
		}
	}
	return true
}
