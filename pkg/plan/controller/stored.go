package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// RevisionData is the data of the ControllerRevision that a store keeps for a
// template, as JSON (docs/kruise/workloads.md#kubectl-operations).
func RevisionData(template map[string]any) []byte { return revisionData(template, true) }

// DaemonTolerations are what a store adds to the pods that an action binds to a
// node (docs/kruise/workloads.md#what-is-added-to-pods).
func DaemonTolerations() []corev1.Toleration { return slices.Clone(daemonTolerations) }

// HoldNotReady is the change that holds a pod back from being ready in the name of
// somebody, such as a ContainerRecreateRequest; a pod without the readiness gate
// KruisePodReady stays as it is (docs/kruise/workloads.md#lifecycle-hooks,
// docs/kruise/jobs.md#containerrecreaterequest).
func HoldNotReady(p *cluster.Pod, agent, key string) cluster.PodChange {
	var c cluster.PodChange
	holdNotReady(&c, p, holder{agent, key})
	return c
}

// LetReady takes back what [HoldNotReady] does; the pod is let go when nobody else
// holds it.
func LetReady(p *cluster.Pod, agent, key string) cluster.PodChange {
	var c cluster.PodChange
	letReady(&c, p, holder{agent, key})
	return c
}
