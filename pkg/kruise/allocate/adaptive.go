package allocate

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
