package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAsk_ForgettingChangesNoAnswer has pods come, change and go, and time pass, between questions:
// with what is remembered, without it, and all at once, the answers are the same.
func TestAsk_ForgettingChangesNoAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	start, remembered := time.Unix(1000, 0), Answers{}
	var list []*Pod
	asked, read := 0, 0
	for round := range 400 {
		now := start.Add(time.Duration(round) * time.Second)
		for range rng.IntN(3) {
			switch at := rng.IntN(len(list) + 1); {
			case rng.IntN(3) > 0 || at == len(list):
				list = append(list, &Pod{Name: fmt.Sprint(round), Created: now, Deleting: rng.IntN(2) == 0})
			case rng.IntN(2) == 0:
				list[at] = &Pod{Name: list[at].Name, Created: now, Deleting: !list[at].Deleting}
			default:
				list[at] = list[len(list)-1]
				list = list[:len(list)-1]
			}
		}
		for _, deleting := range []bool{false, true} {
			// Young pods are those that are at most 20 seconds old.
			young := func(block []*Pod) (names []string, until time.Time) {
				read += len(block)
				for _, p := range block {
					ends := p.Created.Add(20 * time.Second)
					if p.Deleting == deleting && !now.After(ends) {
						names = append(names, p.Name)
						if until.IsZero() || ends.Before(until) {
							until = ends
						}
					}
				}
				return names, until
			}
			got := slices.Concat(Ask(&remembered, deleting, now, list, young)...)
			asked += len(list)
			before := read
			want := slices.Concat(Ask(nil, deleting, now, list, young)...)
			whole, _ := young(list)
			read = before
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d (-read, +remembered):\n%s", round, diff)
			}
			if diff := cmp.Diff(whole, got); diff != "" {
				t.Fatalf("round %d (-whole list, +blocks):\n%s", round, diff)
			}
		}
	}
	if len(list) < 2*blockSize || read*2 > asked {
		t.Errorf("%d pods at the end, %d of %d were read", len(list), read, asked)
	}
}

// TestAsk_ForgetsOldQuestions: the questions of older specs do not pile up.
func TestAsk_ForgetsOldQuestions(t *testing.T) {
	var a Answers
	for key := range 3 * mostKeys {
		Ask(&a, key, time.Time{}, []*Pod{{}}, func([]*Pod) (int, time.Time) { return 0, time.Time{} })
	}
	if len(a.byKey) > mostKeys {
		t.Errorf("%d questions are remembered", len(a.byKey))
	}
}

// TestAsk_TimeMayGoBack: an answer is not given about a time before it was worked out.
func TestAsk_TimeMayGoBack(t *testing.T) {
	var a Answers
	list := []*Pod{{}}
	for _, at := range []int64{10, 20, 5} {
		now := time.Unix(at, 0)
		got := Ask(&a, "old", now, list, func([]*Pod) (bool, time.Time) { return at >= 10, time.Time{} })
		if got[0] != (at >= 10) {
			t.Errorf("at %d: %t", at, got[0])
		}
	}
}

// TestAskEach_ReadsOnlyOtherPods: of a block that changed, the pods that stay are not read again, and
// what is known of all of them is joined as if they were.
func TestAskEach_ReadsOnlyOtherPods(t *testing.T) {
	var a Answers
	list := make([]*Pod, blockSize+10)
	for i := range list {
		list[i] = &Pod{Name: fmt.Sprint(i)}
	}
	read := 0
	ask := func() []string {
		return slices.Concat(AskEach(&a, "names", list, func(p *Pod) string {
			read++
			return p.Name
		}, func(block []*Pod, each []string) []string {
			if len(block) != len(each) {
				t.Errorf("%d pods, %d names", len(block), len(each))
			}
			return slices.Clone(each)
		})...)
	}
	for _, change := range []struct {
		do   func()
		read int
	}{
		{func() {}, len(list)},
		{func() {}, 0},
		{func() { list[3], list[blockSize] = &Pod{Name: "new"}, &Pod{Name: "other"} }, 2},
		{func() { list[5] = list[len(list)-1]; list = list[:len(list)-1] }, 1},
		{func() { list = append(list, &Pod{Name: "last"}) }, 1},
		{func() { list = slices.Insert(list, 2, &Pod{Name: "between"}) }, 2}, // and the first of the second block
		{func() { list = slices.Delete(list, 7, 8) }, 1},                     // the last of the first block
	} {
		change.do()
		read = 0
		var want []string
		for _, p := range list {
			want = append(want, p.Name)
		}
		if diff := cmp.Diff(want, ask()); diff != "" || read != change.read {
			t.Errorf("%d pods were read, want %d (-want +got):\n%s", read, change.read, diff)
		}
	}
}
