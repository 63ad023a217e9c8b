package kruise

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }

// pool are selectors of every operator, of which some share keys and values.
func pool(t *testing.T) (list []labels.Selector) {
	t.Helper()
	for _, text := range []string{
		"", "a", "!a", "a=1", "a==2", "a!=1", "a in (1,2)", "a notin (1)", "a=1,b=2", "a in (1,3),b!=2", "b,c=3", "!b,c in (1,2,3)", "a=,b", "c>1", "a=1,a=2", "a in (1,2),a in (2,3)",
	} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return append(list, labels.Nothing(), nil)
}

// random returns labels with keys a to d and values 0 to 3 or none.
func random(r *rand.Rand) labels.Set {
	set := labels.Set{}
	for _, key := range []string{"a", "b", "c", "d"} {
		if v := r.Intn(6); v < 4 {
			set[key] = fmt.Sprint(v)
		} else if v == 4 {
			set[key] = ""
		}
	}
	return set
}

// TestIndex_CandidatesIncludeEveryMatch: what an index leaves out matches nowhere, both ways.
func TestIndex_CandidatesIncludeEveryMatch(t *testing.T) {
	r := rand.New(rand.NewSource(1)) // the same labels in every run
	list := pool(t)
	sets := make([]labels.Set, 300)
	for i := range sets {
		sets[i] = random(r)
	}
	index := NewSelectorIndex(list)
	labelled := NewLabelIndex(len(sets), func(i int) map[string]string { return sets[i] })
	for i, set := range sets {
		found := index.Candidates(set)
		if !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) != len(found) {
			t.Errorf("%v: the candidates %v are not in order", set, found)
		}
		for place, s := range list {
			if s != nil && s.Matches(set) && !slices.Contains(found, place) {
				t.Errorf("%q matches %v and is no candidate", s, set)
			}
			if s != nil && s.Matches(set) && !slices.Contains(labelled.Candidates(s), i) {
				t.Errorf("%v is matched by %q and is no candidate", set, s)
			}
		}
	}
}

// TestIndex_CandidatesAreFew: a selector that wants a label is no candidate without it, and of two
// requirements the rarer one decides.
func TestIndex_CandidatesAreFew(t *testing.T) {
	var list []labels.Selector
	for i := range 100 {
		list = append(list, labels.SelectorFromSet(labels.Set{"team": "shop", "app": fmt.Sprint(i)}))
	}
	if got := NewSelectorIndex(list).Candidates(labels.Set{"team": "shop", "app": "7"}); len(got) > 2 {
		t.Errorf("%v: the selectors of one app, and the first one, are enough", got)
	}
	labelled := NewLabelIndex(100, func(i int) map[string]string { return map[string]string{"team": "shop", "app": fmt.Sprint(i)} })
	if got := labelled.Candidates(list[7]); !slices.Equal(got, []int{7}) {
		t.Errorf("%v, want [7]", got)
	}
	if got := labelled.Candidates(labels.Everything()); len(got) != 100 {
		t.Errorf("everything is %d of 100", len(got))
	}
}

// TestIndex_AsksOnlyForKeysThatAreThere: a selector that wants a key, with whichever value,
// is no candidate for labels without it.
func TestIndex_AsksOnlyForKeysThatAreThere(t *testing.T) {
	var list []labels.Selector
	for _, text := range []string{"own-0", "own-1", "size>3", "!own-0", "own-2,app=a"} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	x := NewSelectorIndex(list)
	if got, want := x.Candidates(map[string]string{"own-1": "yes", "size": "1"}), []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	sets := []map[string]string{{"own-0": "x"}, {"app": "a"}, {"own-0": "", "app": "b"}}
	y := NewLabelIndex(len(sets), func(i int) map[string]string { return sets[i] })
	if got, want := y.Candidates(list[0]), []int{0, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
