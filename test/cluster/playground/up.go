package playground

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func deploymentUp(_ watch.EventType, d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == *d.Spec.Replicas
}

func statefulSetUp(_ watch.EventType, s *appsv1.StatefulSet) bool {
	return s.Status.ObservedGeneration == s.Generation && s.Status.ReadyReplicas == *s.Spec.Replicas
}
