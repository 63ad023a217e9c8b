package rules

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Partition returns how many of total pods a CloneSet or a SidecarSet keeps
// old: a percentage, fractions allowed, is rounded up, and unless it is exactly
// "100%" it keeps at least one of several pods for the update. The result is in
// [0, total] (docs/kruise/workloads.md#partition, docs/kruise/sidecarset.md#selection).
func Partition(partition *intstr.IntOrString, total int) int {
	if partition == nil {
		return 0
	}
	if partition.Type == intstr.Int {
		return upTo(partition.IntValue(), total)
	}
	percent, ok := percentage(partition.StrVal)
	if !ok {
		return 0
	}
	kept := upTo(int(math.Ceil(percent*float64(total)/100)), total)
	if total > 1 && kept == total && partition.StrVal != "100%" {
		return total - 1
	}
	return kept
}

// partitionDown is [Partition] with percentages rounded down, as SidecarSets have it
// before Kruise 1.7.5 (docs/kruise/versions.md).
func partitionDown(partition *intstr.IntOrString, total int) int {
	if partition == nil || partition.Type == intstr.Int {
		return Partition(partition, total)
	}
	percent, _ := percentage(partition.StrVal)
	return upTo(int(math.Floor(percent*float64(total)/100)), total)
}

// DaemonSetPartition returns how many of the desired pods an Advanced DaemonSet
// keeps old; a percentage is rounded down (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-daemonset).
func DaemonSetPartition(partition *intstr.IntOrString, desired int) int {
	if partition == nil {
		return 0
	}
	return max(scaled(partition, desired, false), 0)
}

// upTo keeps v within 0 and limit.
func upTo(v, limit int) int { return max(0, min(v, limit)) }
