package cluster

// Gates are the feature gates of the Kruise installation that change what the
// rules say (semantics workloads 0.4). The zero value has all of them off;
// [DefaultGates] is a plain installation.
type Gates struct {
	// CloneSetPartitionRollback lets a raised partition take updated pods back.
	CloneSetPartitionRollback bool
	// PreparingUpdateAsUpdate counts pods in PreparingUpdate as updated when a
	// CloneSet is scaled.
	PreparingUpdateAsUpdate bool
	// InPlaceUpdateEnvFromMetadata restarts containers whose env reads a label
	// or annotation that changed.
	InPlaceUpdateEnvFromMetadata bool
	// InPlaceWorkloadVerticalScaling allows cpu and memory to change in place.
	InPlaceWorkloadVerticalScaling bool
	// RecreatePodWhenChangeVCT is RecreatePodWhenChangeVCTInCloneSetGate: pods
	// with other claim templates are recreated.
	RecreatePodWhenChangeVCT bool
	// StatefulSetStartOrdinal makes spec.ordinals.start count.
	StatefulSetStartOrdinal bool
	// MaxUnavailableStatefulSet is a gate of Kubernetes: rollingUpdate.maxUnavailable
	// of its own StatefulSets counts. It is off in 1.36.
	MaxUnavailableStatefulSet bool
	// GuardUpdates is PodUnavailableBudgetUpdateGate: budgets are asked before a pod is
	// updated in place, not only before it is deleted or evicted.
	GuardUpdates bool
}

// DefaultGates returns the gates as Kruise has them when nobody sets any.
func DefaultGates() Gates {
	return Gates{InPlaceUpdateEnvFromMetadata: true}
}
