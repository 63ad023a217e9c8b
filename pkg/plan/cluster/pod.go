package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Pod is what the rules read of one pod. Whoever holds one may share it: rules
// never change their input.
//
// The fields that every pass asks for stand first, and side by side: going over
// ten thousand pods costs what it costs to fetch them from memory.
type Pod struct {
	Labels      map[string]string
	Annotations map[string]string
	Conditions  []Condition
	Phase       corev1.PodPhase
	// Deleting is true as soon as there is a deletionTimestamp.
	Deleting bool
	// Digested is what [Pod.Digest] has read; its zero value is a pod that nobody
	// has prepared.
	Digested Digest

	// Node is empty until the pod is bound.
	Node string
	// Owner is its controller; empty without one.
	Owner   Owner
	Created time.Time
	// Containers and InitContainers are those of the spec, in its order, each
	// with its status.
	Containers     []Container
	InitContainers []Container
	// Ephemeral are names of ephemeral containers.
	Ephemeral []string

	Namespace string
	Name      string
	// UID tells a pod from its successor of the same name.
	UID            string
	Finalizers     []string
	ReadinessGates []string
}

// Condition is one condition of a pod. Since is lastTransitionTime, which has
// whole seconds in a real cluster.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
	Since   time.Time
}

// Container is one container of a pod, spec and status together.
type Container struct {
	Name string
	// Image is what the spec asks for.
	Image string
	// Native is true for an init container with restartPolicy Always.
	Native bool
	// Final is true where nobody starts it again when it ends: restartPolicy Never.
	Final bool
	// Reported is true once the status has an entry; without one the fields
	// below are empty.
	Reported bool
	// StatusImage and ImageID are what runs.
	StatusImage string
	ImageID     string
	Restarts    int
	Ready       bool
	// Waiting is the reason for which it does not run, such as ErrImagePull or
	// CrashLoopBackOff; empty while it runs. Message is what the node says of it,
	// Ended how the container failed last, such as "OOMKilled, exit code 137".
	Waiting, Message, Ended string
	// Priority is its launch priority, the N of its barrier's key p_N; nil
	// without one (docs/kruise/workloads.md#batches-by-launch-priority and
	// docs/kruise/workloads.md#what-is-added-to-pods).
	Priority *int
}

// Condition returns the condition of a type.
func (p *Pod) Condition(kind string) (Condition, bool) {
	if p.conditionsDigested() {
		switch kind {
		case string(corev1.PodReady):
			return p.nth(p.Digested.ready), p.Digested.ready >= 0
		case kruise.InPlaceUpdateReady:
			return p.nth(p.Digested.gate), p.Digested.gate >= 0
		}
	}
	i := p.find(kind)
	return p.nth(i), i >= 0
}

// Container returns the regular container of a name.
func (p *Pod) Container(name string) (Container, bool) {
	for _, c := range p.Containers {
		if c.Name == name {
			return c, true
		}
	}
	return Container{}, false
}
