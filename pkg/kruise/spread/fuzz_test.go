package spread

import (
	"encoding/binary"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// FuzzAllocate holds every allocator to what must be true of any answer.
func FuzzAllocate(f *testing.F) {
	f.Add(int32(10), uint8(0), []byte{})
	f.Add(int32(10), uint8(0), []byte("aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb"))
	f.Add(int32(2147483647), uint8(1), []byte("\x01\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f"))
	f.Add(int32(-5), uint8(3), []byte("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"))
	f.Fuzz(func(t *testing.T, replicas int32, mode uint8, data []byte) {
		in := Allocation{Subsets: fuzzSubsets(data), Adaptive: mode&1 > 0, Reserve: mode&2 > 0}
		if mode&4 == 0 {
			in.Replicas = &replicas
		}
		got, err := Allocate(in)
		if again, _ := Allocate(in); err == nil && !cmp.Equal(got, again) {
			t.Fatalf("two answers: %v and %v", got, again)
		}
		if err != nil {
			if got != nil {
				t.Fatalf("an error and an answer: %v, %v", got, err)
			}
			return
		}
		hold(t, in, got)
	})
}

// fuzzSubsets makes a subset of each 21 bytes.
func fuzzSubsets(data []byte) []Subset {
	const size = 21
	var out []Subset
	for len(data) >= size && len(out) < 50 {
		number := func(i int) int32 { return int32(binary.LittleEndian.Uint32(data[1+4*i:])) }
		s := Subset{Name: string(rune('a' + len(out)%26)), SubsetState: SubsetState{Current: number(3), Ready: number(4), Unschedulable: data[0]&64 > 0}}
		if data[0]&128 > 0 {
			s.Reserved = number(4)
		}
		for i, v := range []**intstr.IntOrString{&s.Replicas, &s.Min, &s.Max} {
			switch n := number(i); data[0] >> (2 * i) & 3 {
			case 1:
				*v = new(intstr.FromInt32(n))
			case 2:
				*v = new(intstr.FromString(strconv.Itoa(int(n%103)) + "%"))
			}
		}
		out, data = append(out, s), data[size:]
	}
	return out
}

func hold(t *testing.T, in Allocation, got []int32) {
	t.Helper()
	var sum int64
	for i, n := range got {
		if n < 0 {
			t.Fatalf("subset %d has %d replicas", i, n)
		}
		sum += int64(n)
	}
	switch {
	case len(got) != len(in.Subsets):
		t.Fatalf("%d answers for %d subsets", len(got), len(in.Subsets))
	case in.Adaptive && in.Reserve:
		holdReserved(t, in, got)
	case in.Adaptive:
		if sum > int64(*in.Replicas) {
			t.Fatalf("%d allocated of %d", sum, *in.Replicas)
		}
	case bounded(in.Subsets):
		holdElastic(t, in, got, sum)
	default:
		holdSpecified(t, in, got, sum)
	}
}

// holdReserved: no subset exceeds both its limits and what it has.
func holdReserved(t *testing.T, in Allocation, got []int32) {
	t.Helper()
	for i, s := range in.Subsets {
		if s.Max == nil {
			continue
		}
		if high, _ := resolveAmount(*s.Max, *in.Replicas); got[i] > max(high, s.Current) {
			t.Fatalf("subset %d has %d, more than %d and than the %d it had", i, got[i], high, s.Current)
		}
	}
}

// holdElastic: limits are kept, and nothing is left while a subset has room.
func holdElastic(t *testing.T, in Allocation, got []int32, sum int64) {
	t.Helper()
	var room int64
	for i, s := range in.Subsets {
		high := int32(unlimited)
		if s.Max != nil {
			high, _ = resolveAmount(*s.Max, *in.Replicas)
		}
		if got[i] > high {
			t.Fatalf("subset %d has %d, more than %d", i, got[i], high)
		}
		room += int64(high)
	}
	if want := min(room, int64(*in.Replicas)); sum != want {
		t.Fatalf("%d allocated, want %d", sum, want)
	}
}

// holdSpecified: who names a number gets it, the others differ by one at most,
// and the sum is right.
func holdSpecified(t *testing.T, in Allocation, got []int32, sum int64) {
	t.Helper()
	var open []int32
	for i, s := range in.Subsets {
		if s.Replicas == nil {
			open = append(open, got[i])
			continue
		}
		var base int32
		if in.Replicas != nil {
			base = *in.Replicas
		}
		if want, _ := resolveAmount(*s.Replicas, base); want != got[i] {
			t.Fatalf("subset %d has %d, named %d", i, got[i], want)
		}
	}
	if len(open) > 0 && slices.Max(open)-slices.Min(open) > 1 {
		t.Fatalf("uneven shares %v", open)
	}
	if in.Replicas != nil && sum != int64(*in.Replicas) {
		t.Fatalf("%d allocated of %d", sum, *in.Replicas)
	}
}
