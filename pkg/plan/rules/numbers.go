package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// unlimited is the value of a limit that is not set.
const unlimited = math.MaxInt32

// Limits are the numbers that the spec of a workload comes to, 0 for what its kind has none of.
type Limits struct {
	Replicas int
	// Partition is how many pods stay at other revisions than the update's.
	Partition int
	// MaxUnavailable is the budget of updates, and of a CloneSet's deletions.
	MaxUnavailable int
	// MaxSurge is how many pods more than Replicas there may be; 0 while a CloneSet is
	// paused.
	MaxSurge int
	// ScaleMaxUnavailable limits creation, [unlimited] when not set.
	ScaleMaxUnavailable int
	// Burst caps creations, deletions and in-place updates of one pass of a DaemonSet.
	Burst int
}

// MaxUpdate is how many pods may carry the update revision, a CloneSet's
// status.expectedUpdatedReplicas.
func (l Limits) MaxUpdate() int { return max(l.Replicas-l.Partition, 0) }

// scaled resolves a number or a whole percentage of base. What cannot be read,
// such as a fractional percentage, is 0: webhooks let those through and the
// controllers count them as nothing (docs/kruise/workloads.md#percentages-and-defaults).
func scaled(v *intstr.IntOrString, base int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, base, up)
	if err != nil {
		return 0
	}
	return n
}

// scaledOr is scaled, with a default for a value that is not set.
func scaledOr(v *intstr.IntOrString, byDefault intstr.IntOrString, base int, up bool) int {
	if v == nil {
		v = &byDefault
	}
	return scaled(v, base, up)
}

// percentage reads a percentage, which may have a fraction.
func percentage(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(number, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// number returns v, or byDefault.
func number(v *int32, byDefault int) int {
	if v == nil {
		return byDefault
	}
	return int(*v)
}

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
	// The bounds come first: what a float that no int holds becomes depends on the processor.
	kept := int(max(0, min(math.Ceil(percent*float64(total)/100), float64(total))))
	if total > 1 && kept == total && partition.StrVal != "100%" {
		return total - 1
	}
	return kept
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

// Ordinals returns the ordinals that a StatefulSet should have: from start
// upwards, reserved ones left out, until there are replicas of them
// (docs/kruise/workloads.md#advanced-statefulset).
func Ordinals(start, replicas int, reserved []intstr.IntOrString) []int {
	out := make([]int, 0, max(replicas, 0))
	if len(reserved) == 0 {
		for i := range max(replicas, 0) {
			out = append(out, start+i)
		}
		return out
	}
	skip := Reserved(reserved)
	for i := start; len(out) < replicas; i++ {
		if !skip(i) {
			out = append(out, i)
		}
	}
	return out
}

// Reserved reads reserveOrdinals, numbers and ranges such as "3-5", and returns their ordinals.
// One invalid range makes the controller ignore them all.
func Reserved(list []intstr.IntOrString) func(int) bool {
	type span struct{ from, to int }
	var spans []span
	for _, v := range list {
		if v.Type == intstr.Int {
			spans = append(spans, span{v.IntValue(), v.IntValue()})
			continue
		}
		from, to, ok := readRange(v.StrVal)
		if !ok {
			return func(int) bool { return false }
		}
		spans = append(spans, span{from, to})
	}
	return func(i int) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= i && i <= s.to })
	}
}

func readRange(text string) (from, to int, ok bool) {
	low, high, ranged := strings.Cut(text, "-")
	from, err := strconv.Atoi(strings.TrimSpace(low))
	if err != nil {
		return 0, 0, false
	}
	if !ranged {
		return from, from, true
	}
	to, err = strconv.Atoi(strings.TrimSpace(high))
	return from, to, err == nil && from <= to
}

// OrdinalOf returns the number that a StatefulSet pod's name ends in, or -1.
func OrdinalOf(p *cluster.Pod) int {
	n, err := strconv.Atoi(p.Name[strings.LastIndexByte(p.Name, '-')+1:])
	if err != nil || n < 0 || !strings.Contains(p.Name, "-") {
		return -1
	}
	return n
}

// slotOf is the place of an ordinal among those that are wanted: mostly that many from the first.
func slotOf(want []int, ordinal int) (int, bool) {
	if len(want) > 0 {
		if at := ordinal - want[0]; at >= 0 && at < len(want) && want[at] == ordinal {
			return at, true
		}
	}
	return slices.BinarySearch(want, ordinal)
}

// fromTheTop returns the pods of slots, highest ordinal first, gaps left out.
func fromTheTop(slots []*cluster.Pod) []*cluster.Pod {
	out := make([]*cluster.Pod, 0, len(slots))
	for _, p := range slices.Backward(slots) {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// descending sorts pods from the highest ordinal to the lowest.
func descending(list []*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b *cluster.Pod) int { return OrdinalOf(b) - OrdinalOf(a) })
	return out
}
