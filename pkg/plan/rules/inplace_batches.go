package rules

import "slices"

// Affected is one container that an in-place update changes.
type Affected struct {
	Name string
	// Priority is its launch priority; nil without one.
	Priority *int
	// Keys are the changed labels and annotations that its env reads.
	Keys []string
}

// InPlaceBatches cuts the containers of one in-place update by their launch
// priority: first those without any and those of the highest, with whoever reads
// the same changed key; when a batch is complete and ready, the rest is asked
// again (docs/kruise/workloads.md#batches-by-launch-priority).
func InPlaceBatches(all []Affected) [][]string {
	var out [][]string
	for len(all) > 0 {
		first := firstBatch(all)
		var names []string
		var rest []Affected
		for i, a := range all {
			if first[i] {
				names = append(names, a.Name)
			} else {
				rest = append(rest, a)
			}
		}
		out, all = append(out, names), rest
	}
	return out
}

func firstBatch(all []Affected) []bool {
	var highest *int
	for _, a := range all {
		if a.Priority != nil && (highest == nil || *a.Priority > *highest) {
			highest = a.Priority
		}
	}
	in := make([]bool, len(all))
	for i, a := range all {
		in[i] = a.Priority == nil || *a.Priority == *highest
	}
	for grown := true; grown; {
		grown = false
		for i, a := range all {
			if !in[i] && sharesKey(a, all, in) {
				in[i], grown = true, true
			}
		}
	}
	return in
}

func sharesKey(a Affected, all []Affected, in []bool) bool {
	for i, other := range all {
		if in[i] && slices.ContainsFunc(a.Keys, func(k string) bool { return slices.Contains(other.Keys, k) }) {
			return true
		}
	}
	return false
}
