package rules

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ReplicasPending says what a change of spec.replicas waits for: the controller has
// seen it, and there are so many pods, whatever their revision.
func ReplicasPending(obj any) Pending {
	var p Pending
	if s, ok := sizeOf(obj); ok {
		p.seen(s.observed, s.generation)
		p.count("replicas", s.replicas, s.wanted)
	}
	return p
}

// AvailablePending says what a workload that grows waits for beside
// [ReplicasPending]: so many pods are available, whatever their revision.
func AvailablePending(obj any) Pending {
	var p Pending
	if s, ok := sizeOf(obj); ok {
		p.seen(s.observed, s.generation)
		p.atLeast("availableReplicas", s.available, s.wanted)
	}
	return p
}

// size is how many pods a workload shall have, and has.
type size struct {
	generation, observed        int64
	wanted, replicas, available int32
}

// sizeOf reads the numbers; kinds without replicas have none.
func sizeOf(obj any) (size, bool) {
	t := cluster.Of(obj)
	n, ok := t.Replicas()
	all, available := t.Pods()
	return size{t.Generation(), t.ObservedGeneration(), int32(n), all, available}, ok
}

// DeploymentStepPending says what a step of a Deployment that is paused once so
// many pods are updated waits for: that they are, and that no pod is
// unavailable. The status does not tell updated pods that are available apart.
func DeploymentStepPending(d *appsv1.Deployment, updated int) Pending {
	var p Pending
	p.seen(d.Status.ObservedGeneration, d.Generation)
	p.atLeast("updatedReplicas", d.Status.UpdatedReplicas, int32(updated))
	p.need(d.Status.UnavailableReplicas == 0, "unavailableReplicas is %d", d.Status.UnavailableReplicas)
	return p
}
