package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChanges_BringAReaderUpToDate has readers follow a list by what its record says changed.
func TestChanges_BringAReaderUpToDate(t *testing.T) {
	known := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		list := make([]int, 1+r.IntN(30))
		var record PodChanges
		var mark Mark[int]
		var copied []int
		for step := range 40 {
			for range r.IntN(200) / (1 + r.IntN(50)) {
				place := r.IntN(len(list))
				list[place] = r.Int()
				record.Add(place, len(list))
			}
			changes, ok := mark.Since(&record)
			if ok != (step > 0) && (step == 0 || len(changes) > 0) {
				t.Fatalf("seed %d, step %d: known is %t, with %d changes", seed, step, ok, len(changes))
			}
			if !ok {
				copied = slices.Clone(list)
				continue
			}
			known++
			for _, place := range changes {
				copied[place] = list[place]
			}
			if !slices.Equal(copied, list) {
				t.Fatalf("seed %d, step %d: the reader has %v, want %v", seed, step, copied, list)
			}
		}
	}
	if known < 1000 {
		t.Errorf("only %d times were the changes known", known)
	}
}

func TestMark_WithoutItsRecordKnowsNothing(t *testing.T) {
	var one, other PodChanges
	var mark Mark[int]
	one.Add(3, 10)
	for i, c := range []*PodChanges{&one, nil, &one, &other, &one} {
		if _, known := mark.Since(c); known {
			t.Errorf("call %d: the changes are known", i)
		}
	}
	one.Add(7, 10)
	if changes, known := mark.Since(&one); !known || !slices.Equal(changes, []int{7}) {
		t.Errorf("changes %v, known %t, want [7]", changes, known)
	}
	for range 10 * fewestChanges {
		one.Add(1, 1)
	}
	if _, known := mark.Since(&one); known {
		t.Error("changes that were forgotten are known")
	}
	one.Forget()
	if _, known := mark.Since(&one); known {
		t.Error("the changes before everything changed are known")
	}
	if changes, known := mark.Since(&one); !known || len(changes) > 0 {
		t.Errorf("changes %v, known %t, want none", changes, known)
	}
	one.Add(1, 1)
	if len(one.kept) > 2*fewestChanges {
		t.Errorf("%d changes are kept of a list of one", len(one.kept))
	}
}
