package allocate

import "math"

// Reservation is the allocator of reserveUnschedulablePods: pods that cannot
// run stay where they are and are allocated once more elsewhere, so the sum of
// the result can exceed replicas (docs/kruise/distribution.md#which-allocator).
func Reservation(replicas *int32, subsets []Subset) ([]int32, error) {
	rest, limits, err := limits(replicas, subsets)
	if err != nil {
		return nil, err
	}
	r := reservation{rest: rest, out: make([]int64, len(subsets)), room: make([]int64, len(subsets))}
	for i, s := range subsets {
		r.room[i] = room(s.State)
	}
	for i, b := range limits {
		r.raise(i, b.min)
	}
	for i, b := range limits {
		if s := subsets[i].State; s.Reserved > 0 {
			r.raise(i, int64(s.Current))
			continue
		}
		r.raise(i, b.max)
	}
	return counts(r.out), nil
}

// room is the number of pods that a subset can run: what it has without the
// reserved ones when it is marked or has any, else no limit.
func room(s State) int64 {
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
