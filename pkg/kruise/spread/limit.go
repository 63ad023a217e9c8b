// Package spread says which subset of a WorkloadSpread a pod of its target
// belongs to, and puts into the pod what the subset asks for, as Kruise's
// admission webhook does when a pod is created (docs/kruise/distribution.md#workloadspread). It
// is a pure leaf: the renderer uses it on templates, the simulator on pods, and
// it knows neither, no cluster and no clock.
package spread

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Unlimited is the limit, and the room, of a subset without maxReplicas.
const Unlimited = -1

// None is the place of a pod for which no subset has room.
const None = -1

// Limit is how many pods a subset with this maxReplicas takes of a target with so
// many replicas: a percentage is rounded up, nil is [Unlimited]. What is no
// amount counts as 0; the webhook refuses it.
func Limit(maxReplicas *intstr.IntOrString, replicas int) int {
	if maxReplicas == nil {
		return Unlimited
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(maxReplicas, replicas, true)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// Limits are the limits of all subsets, in their order.
func Limits(subsets []kruise.WorkloadSpreadSubset, replicas int) []int {
	out := make([]int, len(subsets))
	for i, s := range subsets {
		out[i] = Limit(s.MaxReplicas, replicas)
	}
	return out
}

// Missing is how many more pods a subset takes that has some, [Unlimited] without
// a limit. Limits that were lowered leave no debt.
func Missing(limit, pods int) int {
	if limit == Unlimited {
		return Unlimited
	}
	return max(limit-pods, 0)
}
