// Package daemon models the part of Kruise that runs on each node: it restarts
// containers for ContainerRecreateRequests and pulls the images of NodeImages
// (docs/kruise/jobs.md#image-pulls and docs/kruise/jobs.md#containerrecreaterequest). It is data
// in, data out.
package daemon

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// minimumGrace is the least that a container gets to end.
const minimumGrace = 2 * time.Second

// again is when to look at a request that waits for something.
const again = 100 * time.Millisecond

// Stop asks for a container to be stopped.
type Stop struct {
	Container string
	Grace     time.Duration
}

// Recreate makes one pass over a request: its new status, at most one container
// to stop, and after what time to look again (zero when it is complete).
func Recreate(now time.Time, crr *kruise.ContainerRecreateRequest, pod *corev1.Pod) (kruise.ContainerRecreateRequestStatus, *Stop, time.Duration) {
	status := crr.Status
	if status.Phase == kruise.ContainerRecreateRequestCompleted {
		return status, nil, 0
	}
	status.Phase = kruise.ContainerRecreateRequestRecreating
	status.ContainerRecreateStates = states(now, crr, pod)
	if !drained(now, crr) {
		return status, nil, again
	}
	stop, over := walk(crr, pod, status.ContainerRecreateStates)
	if over {
		status.Phase = kruise.ContainerRecreateRequestCompleted
		status.CompletionTime = &metav1.Time{Time: now}
		return status, nil, 0
	}
	return status, stop, again
}

// states works out the state of each container.
func states(now time.Time, crr *kruise.ContainerRecreateRequest, pod *corev1.Pod) []kruise.ContainerRecreateRequestContainerRecreateState {
	var out []kruise.ContainerRecreateRequestContainerRecreateState
	for i := range crr.Spec.Containers {
		c := &crr.Spec.Containers[i]
		state := kruise.ContainerRecreateRequestContainerRecreateState{Name: c.Name, Phase: kruise.ContainerRecreateRequestPending}
		if j := slices.IndexFunc(crr.Status.ContainerRecreateStates, func(s kruise.ContainerRecreateRequestContainerRecreateState) bool {
			return s.Name == c.Name
		}); j >= 0 {
			state = crr.Status.ContainerRecreateStates[j]
		}
		if state.Phase != kruise.ContainerRecreateRequestFailed && state.Phase != kruise.ContainerRecreateRequestSucceeded {
			state.Phase = phase(now, crr, c, state.IsKilled, pod)
		}
		out = append(out, state)
	}
	return out
}

// phase is that of a container which is not through yet.
func phase(
	now time.Time, crr *kruise.ContainerRecreateRequest, c *kruise.ContainerRecreateRequestContainer, killed bool, pod *corev1.Pod,
) kruise.ContainerRecreateRequestPhase {
	strategy := strategyOf(crr)
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
	if i < 0 || strategy.ForceRecreate && !killed {
		return kruise.ContainerRecreateRequestPending
	}
	s := pod.Status.ContainerStatuses[i]
	before := c.StatusContext
	renewed := before != nil && (s.ContainerID != before.ContainerID || s.RestartCount > before.RestartCount)
	switch {
	case s.State.Running == nil:
		return kruise.ContainerRecreateRequestRecreating
	case !renewed && killed:
		return kruise.ContainerRecreateRequestRecreating
	case !renewed:
		return kruise.ContainerRecreateRequestPending
	case s.Ready && now.Sub(s.State.Running.StartedAt.Time) >= time.Duration(strategy.MinStartedSeconds)*time.Second:
		return kruise.ContainerRecreateRequestSucceeded
	}
	return kruise.ContainerRecreateRequestRecreating
}

// walk goes through the containers in their order: it marks the next one to be
// stopped, or says that the request is over.
func walk(crr *kruise.ContainerRecreateRequest, pod *corev1.Pod, states []kruise.ContainerRecreateRequestContainerRecreateState) (*Stop, bool) {
	strategy := strategyOf(crr)
	over := true
	for i := range states {
		s := &states[i]
		switch s.Phase {
		case kruise.ContainerRecreateRequestFailed:
			if strategy.FailurePolicy != kruise.ContainerRecreateIgnore {
				return nil, true
			}
		case kruise.ContainerRecreateRequestRecreating:
			over = false
			if strategy.OrderedRecreate {
				return nil, false
			}
		case kruise.ContainerRecreateRequestPending:
			if life.KillFails(pod, s.Name) {
				s.Phase, s.Message = kruise.ContainerRecreateRequestFailed, "kill container error: lab"
				return nil, strategy.FailurePolicy != kruise.ContainerRecreateIgnore
			}
			s.Phase, s.IsKilled = kruise.ContainerRecreateRequestRecreating, true
			return &Stop{Container: s.Name, Grace: grace(strategy, pod)}, false
		}
	}
	return nil, over
}

// drained reports whether the time between "not ready" and the first stop has passed.
// A controller starts that time with a condition.
func drained(now time.Time, crr *kruise.ContainerRecreateRequest) bool {
	wait := strategyOf(crr).UnreadyGracePeriodSeconds
	if wait == nil || *wait == 0 {
		return true
	}
	for _, c := range crr.Status.Conditions {
		if c.Type == "PreRecreateGrace" && c.Status == metav1.ConditionTrue {
			return !now.Before(c.LastTransitionTime.Add(time.Duration(*wait) * time.Second))
		}
	}
	return false
}

func strategyOf(crr *kruise.ContainerRecreateRequest) kruise.ContainerRecreateRequestStrategy {
	if crr.Spec.Strategy == nil {
		return kruise.ContainerRecreateRequestStrategy{}
	}
	return *crr.Spec.Strategy
}

// grace is what a container gets to end.
func grace(s kruise.ContainerRecreateRequestStrategy, pod *corev1.Pod) time.Duration {
	seconds := s.TerminationGracePeriodSeconds
	if seconds == nil {
		seconds = pod.Spec.TerminationGracePeriodSeconds
	}
	if seconds == nil {
		return 30 * time.Second
	}
	return max(minimumGrace, time.Duration(*seconds)*time.Second)
}
