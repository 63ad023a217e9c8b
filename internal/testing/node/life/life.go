// Package life models what a node does to a pod: pulling, starting, restarting,
// stopping, and the status that tells of it. It is data in, data out: time is an
// argument, so that its tests take none. It follows what was measured on a real
// kubelet.
package life

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Timing is how long things take on a modelled node.
type Timing struct {
	// Sandbox passes before a new pod has an address.
	Sandbox time.Duration
	// Pull is for an image that the node does not have.
	Pull time.Duration
	// Start passes between having the image and running.
	Start time.Duration
	// Stop is what a container takes to end when asked to. The pod's grace period
	// cuts it short.
	Stop time.Duration
	// BackOff is the pause after the second crash in a row and after a failed
	// pull. It doubles each time, up to BackOffLimit.
	BackOff, BackOffLimit time.Duration
}

// Quick is for tests that only need the order of things.
func Quick() Timing {
	return Timing{Start: 50 * time.Millisecond, BackOff: 200 * time.Millisecond, BackOffLimit: 2 * time.Second}
}

// Recorded is how the nodes behaved on which Kruise's behaviour was recorded.
func Recorded() Timing {
	return Timing{Start: time.Second, Stop: 500 * time.Millisecond, BackOff: 10 * time.Second, BackOffLimit: 5 * time.Minute}
}

// Host is the node as its pods see it.
type Host struct {
	Timing Timing
	Images *Images
	IP     string
}

// Pod is what the node knows of one pod beyond the object itself.
type Pod struct {
	UID        types.UID
	IP         string
	sandbox    time.Time // when the pod has its address
	containers map[string]*container
	limit      time.Time // when containers of a deleted pod are killed
	ended      bool      // reached a final phase
}

// Event is something the node would record about a pod.
type Event struct{ Reason, Message string }

// Result is what follows from one look at a pod.
type Result struct {
	// Status is the pod's new status, complete.
	Status corev1.PodStatus
	// Gone indicates that everything has ended and the object may go.
	Gone bool
	// Wake is when something happens next by itself; zero for never.
	Wake time.Time
	// Events are warnings, each once.
	Events []Event
}

// New is a pod that the node has never seen, or one it was running before the
// model was started again: what its status tells is taken over.
func New(pod *corev1.Pod, ip string) *Pod {
	p := &Pod{UID: pod.UID, IP: ip, containers: map[string]*container{}}
	if pod.Status.PodIP != "" {
		p.IP = pod.Status.PodIP
		p.sandbox = pod.CreationTimestamp.Time
	}
	p.ended = final(pod.Status.Phase)
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if c := adopt(&list[i]); c != nil {
				p.containers[c.name] = c
			}
		}
	}
	return p
}

// Restart stops a container as the node's daemon does for a recreate request; the
// pod's restart policy brings it back. It reports whether the container ran.
func (p *Pod) Restart(name string, grace time.Duration) bool {
	c := p.containers[name]
	if c == nil || c.state != running {
		return false
	}
	c.kill = &kill{grace: grace}
	return true
}

// Exit ends a container's process from within, as a signal sent by exec does: the
// restart policy and its back-off decide what follows.
func (p *Pod) Exit(name string, code int32) bool {
	c := p.containers[name]
	if c == nil || c.state != running {
		return false
	}
	c.exit = &code
	return true
}

func final(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
