package references

import (
	"slices"
	"testing"
)

func TestShares_AddUpToTheWhole(t *testing.T) {
	for _, c := range []struct {
		total   int64
		weights []int64
		want    []int64
	}{
		{12, []int64{3, 2, 1}, []int64{6, 4, 2}},
		{5, []int64{9, 1}, []int64{4, 1}},
		{10, []int64{1, 1, 1}, []int64{4, 3, 3}},
		{3, []int64{100, 1, 1}, []int64{1, 1, 1}},
		{4, []int64{1 << 31, 1, 1}, []int64{2, 1, 1}},
		{1, []int64{7}, []int64{1}},
		{1<<31 - 1, []int64{1<<31 - 1, 1<<31 - 1}, []int64{1 << 30, 1<<30 - 1}},
	} {
		if got := shares(c.total, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("shares(%d, %v) = %v, want %v", c.total, c.weights, got, c.want)
		}
	}
}

func TestReferrers_PathsLeadBelowSpec(t *testing.T) {
	for _, fields := range referrers {
		for _, ref := range fields {
			if len(ref.path) < 2 || ref.path[0] != "spec" {
				t.Errorf("path %v leads to no mapping below spec", ref.path)
			}
		}
	}
}
