package life

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// containerStatus is one container's part of the pod's status.
func (p *Pod) containerStatus(t turn, of placed) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: of.spec.Name, Image: of.spec.Image, Started: new(bool)}
	c := p.containers[of.spec.Name]
	if c == nil {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		if of.role == initial || of.role == sidecar || !p.sandboxed(t.now) {
			s.State.Waiting.Reason = "ContainerCreating"
		}
		return s
	}
	s.Image, s.ImageID, s.ContainerID, s.RestartCount = cmp.Or(c.ran, c.image), c.imageID, c.id, c.restarts
	s.State = c.current()
	if c.last != nil && (s.State.Terminated == nil || s.State.Terminated.ContainerID != c.last.ContainerID) {
		s.LastTerminationState.Terminated = c.last
	}
	*s.Started = s.State.Running != nil
	s.Ready = c.ready(t, of.role)
	if s.State.Running != nil && of.role != ephemeral {
		s.Resources = c.resources
		s.AllocatedResources = c.resources.Requests
	}
	return s
}

// current is the state as the API tells it. A container that is being stopped
// still runs.
func (c *container) current() corev1.ContainerState {
	switch {
	case c.state == running || c.state == stopping:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.started)}}
	case c.state == exited && (c.reason == "" || c.replace):
		return corev1.ContainerState{Terminated: c.last}
	}
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: c.reason, Message: c.message}}
}

// ready follows the script; a plain init container is ready once it is through.
func (c *container) ready(t turn, r role) bool {
	if r == initial {
		return c.passed(initial)
	}
	if c.state != running || r == ephemeral || t.script.names(UnreadyAnnotation, c.name) || t.script.names(UnreadyAnnotation, c.image) {
		return false
	}
	delay, _ := t.script.duration(ReadyDelayAnnotation, c.name)
	if at := c.started.Add(delay); r == regular && t.now.Before(at) {
		t.wake(at)
		return false
	}
	return true
}

// terminated tells of the exit.
func (c *container) terminated() *corev1.ContainerStateTerminated {
	reason := "Completed"
	if c.code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: c.code, Reason: reason, ContainerID: c.id,
		StartedAt: metav1.NewTime(c.started), FinishedAt: metav1.NewTime(c.finished),
	}
}

// adopt takes over a container that was run before the model was started again.
// One that was not running starts again.
func adopt(s *corev1.ContainerStatus) *container {
	if s.ContainerID == "" {
		return nil
	}
	c := &container{
		name: s.Name, image: s.Image, ran: s.Image, imageID: s.ImageID, id: s.ContainerID, restarts: s.RestartCount,
		starts: int(s.RestartCount) + 1, resources: s.Resources.DeepCopy(), last: s.LastTerminationState.Terminated,
	}
	switch {
	case s.State.Running != nil:
		c.state, c.started = running, s.State.Running.StartedAt.Time
	case s.State.Terminated != nil:
		end := s.State.Terminated
		c.state, c.last, c.code = exited, end, end.ExitCode
		c.started, c.finished = end.StartedAt.Time, end.FinishedAt.Time
	default:
		c.reason = strings.TrimSpace(s.State.Waiting.Reason)
	}
	return c
}
