package rules

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// CloneSetLimits are the numbers that a CloneSet's spec comes to.
type CloneSetLimits struct {
	Replicas int
	// Partition is how many pods stay at other revisions than the update's.
	Partition int
	// MaxUnavailable is the budget of updates and deletions.
	MaxUnavailable int
	// MaxSurge is how many pods more than Replicas there may be; 0 while
	// paused.
	MaxSurge int
	// ScaleMaxUnavailable limits creation, [Unlimited] when not set.
	ScaleMaxUnavailable int
}

// ExpectedUpdated is status.expectedUpdatedReplicas.
func (l CloneSetLimits) ExpectedUpdated() int { return l.Replicas - l.Partition }

// LimitsOfCloneSet resolves the numbers of a spec
// (docs/kruise/workloads.md#percentages-and-defaults, docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#how-many-pods). maxUnavailable as a percentage is rounded up when there
// is no surge, and down when there is or when there is no rollingUpdate at all (OnDelete, where it
// still limits specified deletes).
func LimitsOfCloneSet(spec *kruise.CloneSetSpec) CloneSetLimits {
	replicas := number(spec.Replicas, 1)
	l := CloneSetLimits{Replicas: replicas, ScaleMaxUnavailable: Unlimited}
	if limit := spec.ScaleStrategy.MaxUnavailable; limit != nil {
		l.ScaleMaxUnavailable = scaled(limit, replicas, true)
	}
	byDefault := intstr.FromString("20%")
	rolling := spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		l.MaxUnavailable = scaled(&byDefault, replicas, false)
		return l
	}
	l.Partition = Partition(rolling.Partition, replicas)
	if rolling.MaxSurge != nil && !rolling.Paused {
		l.MaxSurge = scaled(rolling.MaxSurge, replicas, true)
	}
	l.MaxUnavailable = scaledOr(rolling.MaxUnavailable, byDefault, replicas, l.MaxSurge == 0)
	return l
}
