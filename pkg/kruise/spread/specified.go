package spread

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// specified gives subsets the replicas that they name and shares the rest out
// evenly over the others. What does not divide goes to the subsets that are
// largest now, among equals to the last by name, so that few pods move
// (docs/kruise/distribution.md#which-allocator; the order of declaration plays no role).
func specified(replicas *int32, subsets []Subset) ([]int32, error) {
	out, open, sum, err := named(replicas, subsets)
	if err != nil {
		return nil, err
	}
	if replicas == nil {
		if len(open) > 0 {
			return nil, fault(fieldReplicas, "set spec.replicas, or replicas in every subset", "subset %s has no replicas, and neither has the UnitedDeployment", subsets[open[0]].Name)
		}
		return counts(out), nil
	}
	if err := fits(int64(*replicas), sum, out, open, subsets); err != nil {
		return nil, err
	}
	if len(open) > 0 {
		spread(out, open, int64(*replicas)-sum, subsets)
	}
	return counts(out), nil
}

// named resolves the subsets that name their replicas; open are the others.
func named(replicas *int32, subsets []Subset) (out []int64, open []int, sum int64, err error) {
	if replicas != nil && *replicas < 0 {
		return nil, nil, 0, fault(fieldReplicas, "", "%d is negative", *replicas)
	}
	var faults []error
	out = make([]int64, len(subsets))
	for i, s := range subsets {
		if s.Replicas == nil {
			open = append(open, i)
			continue
		}
		n, err := resolve(s.Replicas, i, "replicas", replicas, 0)
		faults = append(faults, err)
		out[i] = n
		sum += n
	}
	return out, open, sum, errors.Join(faults...)
}

// fits refuses sums that cannot work, with what would have to change.
func fits(total, sum int64, out []int64, open []int, subsets []Subset) error {
	switch {
	case sum > total:
		return fault(fieldSubsets, fmt.Sprintf("take %d away, or set spec.replicas to %d", sum-total, sum),
			"the subsets ask for %s (%s), but spec.replicas is %d", counted.Of(int(sum), "replica"), listed(out, subsets), total)
	case sum < total && len(open) == 0 && len(subsets) == 0:
		return fault(fieldSubsets, "add a subset", "no subset takes the %s", counted.Of(int(total), "replica"))
	case sum < total && len(open) == 0:
		return fault(fieldSubsets, fmt.Sprintf("leave replicas out of one subset, which then takes the rest, or add %d, or set spec.replicas to %d", total-sum, sum),
			"all subsets name their replicas and they add up to %d (%s), but spec.replicas is %d", sum, listed(out, subsets), total)
	}
	return nil
}

// listed reports who asked for what; long lists are cut.
func listed(out []int64, subsets []Subset) string {
	const most = 8
	var parts []string
	for i, s := range subsets {
		if s.Replicas == nil {
			continue
		}
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		part := fmt.Sprintf("%s %d", s.Name, out[i])
		if text := s.Replicas.String(); strings.HasSuffix(text, "%") {
			part = fmt.Sprintf("%s %s = %d", s.Name, text, out[i])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// spread shares rest out over the open subsets.
func spread(out []int64, open []int, rest int64, subsets []Subset) {
	slices.SortStableFunc(open, func(a, b int) int {
		return cmp.Or(cmp.Compare(subsets[b].Current, subsets[a].Current), cmp.Compare(subsets[b].Name, subsets[a].Name))
	})
	each, more := rest/int64(len(open)), rest%int64(len(open))
	for place, i := range open {
		out[i] = each
		if int64(place) < more {
			out[i]++
		}
	}
}
