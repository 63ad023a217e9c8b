package rollout

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrdered_EqualsASortedSlice compares random insertions and removals with a slice that is sorted.
func TestOrdered_EqualsASortedSlice(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	want := random.Perm(3000)
	o := newOrdered(slices.Clone(want), cmp.Compare[int])
	slices.Sort(want)
	for range 6000 {
		n := random.IntN(6000)
		if i, ok := slices.BinarySearch(want, n); ok {
			want = slices.Delete(want, i, i+1)
			o.remove(n)
		} else {
			want = slices.Insert(want, i, n)
			o.insert(n)
		}
	}
	o.remove(-1)
	o.remove(10_000)
	if got := slices.Collect(o.from(0)); !slices.Equal(got, want) || o.size != len(want) {
		t.Fatalf("%d items, want %d", o.size, len(want))
	}
	for i, n := range want {
		if at, ok := o.index(n); at != i || !ok || o.at(i) != n {
			t.Fatalf("%d is at %d (%t), want %d; there is %d", n, at, ok, i, o.at(i))
		}
	}
	for _, n := range want {
		o.remove(n)
	}
	if o.insert(7); o.size != 1 || o.at(0) != 7 {
		t.Errorf("%d items after all but one were removed", o.size)
	}
}
