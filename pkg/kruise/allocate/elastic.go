package allocate

import "errors"

// bounds are the resolved limits of one subset.
type bounds struct{ min, max int64 }

// elastic fills subsets in the order of their declaration: first all up to
// minReplicas, then all up to maxReplicas. The current state plays no role;
// replicas that no subset may take stay unallocated (docs/kruise/distribution.md#which-allocator).
func elastic(replicas *int32, subsets []Subset) ([]int32, error) {
	rest, limits, err := limits(replicas, subsets)
	if err != nil {
		return nil, err
	}
	return counts(fill(rest, limits)), nil
}

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
