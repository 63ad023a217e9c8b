package spread

import (
	"errors"
	"math"
)

// bounds are the resolved limits of one subset.
type bounds struct{ min, max int64 }

// limits resolves minReplicas (default 0) and maxReplicas (default unlimited)
// of all subsets.
func limits(replicas *int32, subsets []Subset) (rest int64, all []bounds, err error) {
	rest, err = total(replicas)
	if err != nil {
		return 0, nil, err
	}
	var faults []error
	for i, s := range subsets {
		low, lowErr := resolve(s.Min, i, "minReplicas", replicas, 0)
		high, highErr := resolve(s.Max, i, "maxReplicas", replicas, unlimited)
		faults = append(faults, lowErr, highErr)
		if lowErr == nil && highErr == nil && low > high {
			faults = append(faults, fault(field(i, "minReplicas"), "lower minReplicas or raise maxReplicas",
				"minReplicas (%d) of subset %s is more than its maxReplicas (%d)", low, s.Name, high))
		}
		all = append(all, bounds{low, high})
	}
	return rest, all, errors.Join(faults...)
}

// fill is the two passes. A maximum below the minimum, which Adaptive can
// make, adds nothing.
func fill(rest int64, limits []bounds) []int64 {
	out := make([]int64, len(limits))
	for i, b := range limits {
		out[i] = min(b.min, rest)
		rest -= out[i]
	}
	for i, b := range limits {
		more := max(0, min(b.max-b.min, rest))
		out[i] += more
		rest -= more
	}
	return out
}

// adaptive is Elastic with limits bent by what is known of the cluster: an
// unschedulable subset keeps the pods that are ready there and gets no more,
// and a schedulable one never gives running pods back
// (docs/kruise/distribution.md#which-allocator).
func adaptive(replicas *int32, subsets []Subset) ([]int32, error) {
	rest, limits, err := limits(replicas, subsets)
	if err != nil {
		return nil, err
	}
	for i, s := range subsets {
		limits[i] = bend(limits[i], int64(max(s.Ready, 0)), s.Unschedulable)
	}
	return counts(fill(rest, limits)), nil
}

func bend(b bounds, ready int64, unschedulable bool) bounds {
	switch {
	case unschedulable:
		return bounds{min: max(ready, b.min), max: min(ready, b.max)}
	case ready > b.min:
		return bounds{min: min(ready, b.max), max: b.max}
	}
	return b
}

// reservedReplicas is the allocator of reserveUnschedulablePods: pods that cannot
// run stay where they are and are allocated once more elsewhere, so the sum of
// the result can exceed replicas (docs/kruise/distribution.md#which-allocator).
func reservedReplicas(replicas *int32, subsets []Subset) ([]int32, error) {
	rest, limits, err := limits(replicas, subsets)
	if err != nil {
		return nil, err
	}
	r := reservation{rest: rest, out: make([]int64, len(subsets)), room: make([]int64, len(subsets))}
	for i, s := range subsets {
		r.room[i] = room(s.SubsetState)
	}
	for i, b := range limits {
		r.raise(i, b.min)
	}
	for i, b := range limits {
		if s := subsets[i].SubsetState; s.Reserved > 0 {
			r.raise(i, int64(s.Current))
			continue
		}
		r.raise(i, b.max)
	}
	return counts(r.out), nil
}

// room is the number of pods that a subset can run: what it has without the
// reserved ones when it is marked or has any, else no limit.
func room(s SubsetState) int64 {
	if !s.Unschedulable && s.Reserved <= 0 {
		return math.MaxInt64
	}
	return int64(s.Current) - int64(s.Reserved)
}

type reservation struct {
	rest int64
	out  []int64
	room []int64
}

// raise gives subset i up to target pods. Those beyond its room stay in rest.
func (r *reservation) raise(i int, target int64) {
	d := max(0, min(target-r.out[i], r.rest))
	if d == 0 {
		return
	}
	r.out[i] += d
	r.room[i] -= d
	if r.room[i] >= 0 {
		r.rest -= d
		return
	}
	r.rest -= max(0, d+r.room[i])
}
