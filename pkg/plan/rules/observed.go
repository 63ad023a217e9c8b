package rules

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Observed reports whether the controller has seen the present spec: before it
// has, the status is about an older one.
func Observed(obj any) bool {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *kruise.StatefulSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *kruise.DaemonSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *kruise.SidecarSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *appsv1.Deployment:
		return o.Status.ObservedGeneration >= o.Generation
	case *appsv1.ReplicaSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *appsv1.StatefulSet:
		return o.Status.ObservedGeneration >= o.Generation
	case *appsv1.DaemonSet:
		return o.Status.ObservedGeneration >= o.Generation
	}
	return true
}
