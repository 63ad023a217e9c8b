package rules

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// ReplicasPending says what a change of spec.replicas waits for: the controller has
// seen it, and there are so many pods, whatever their revision.
func ReplicasPending(obj any) Pending {
	var p Pending
	switch o := obj.(type) {
	case *kruise.CloneSet:
		p.replicas(o.Generation, o.Status.ObservedGeneration, o.Status.Replicas, o.Spec.Replicas)
	case *kruise.StatefulSet:
		p.replicas(o.Generation, o.Status.ObservedGeneration, o.Status.Replicas, o.Spec.Replicas)
	case *appsv1.Deployment:
		p.replicas(o.Generation, o.Status.ObservedGeneration, o.Status.Replicas, o.Spec.Replicas)
	case *appsv1.ReplicaSet:
		p.replicas(o.Generation, o.Status.ObservedGeneration, o.Status.Replicas, o.Spec.Replicas)
	case *appsv1.StatefulSet:
		p.replicas(o.Generation, o.Status.ObservedGeneration, o.Status.Replicas, o.Spec.Replicas)
	}
	return p
}

func (p *Pending) replicas(generation, observed int64, got int32, want *int32) {
	p.seen(observed, generation)
	p.count("replicas", got, int32(number(want, 1)))
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
