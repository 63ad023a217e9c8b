package spread_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
)

func TestChoose(t *testing.T) {
	shut := func(missing int) spread.Room { return spread.Room{Missing: missing, Closed: true} }
	open := func(missing int) spread.Room { return spread.Room{Missing: missing} }
	for _, c := range []struct {
		name  string
		rooms []spread.Room
		want  int
	}{
		{"first with room", []spread.Room{open(2), open(-1)}, 0},
		{"first is full", []spread.Room{open(0), open(1), open(-1)}, 1},
		{"open end", []spread.Room{open(0), open(-1)}, 1},
		{"open first takes all", []spread.Room{open(-1), open(3)}, 0},
		{"closed is passed by", []spread.Room{shut(3), open(-1)}, 1},
		{"no room", []spread.Room{open(0), open(0)}, spread.None},
		{"all closed", []spread.Room{shut(-1)}, spread.None},
		{"nothing", nil, spread.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spread.Choose(c.rooms); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestOrdinal: the table of docs/kruise/distribution.md#workloadspread, and case 025.
func TestOrdinal(t *testing.T) {
	subsets := []spread.Room{{Missing: 5}, {Missing: 5}, {Missing: spread.Unlimited}}
	gone := []spread.Room{{Missing: 2, Closed: true}, {Missing: 1}, {Missing: spread.Unlimited}}
	for _, c := range []struct {
		rooms   []spread.Room
		ordinal int
		want    int
	}{
		{subsets, 0, 0},
		{subsets, 4, 0},
		{subsets, 5, 1},
		{subsets, 9, 1},
		{subsets, 10, 2},
		{subsets, 999, 2},
		{gone, 0, 1},
		{gone, 1, 2},
		{subsets[:2], 10, spread.None},
		{[]spread.Room{{Missing: 0}, {Missing: 1}}, 0, 1},
		{[]spread.Room{{Missing: spread.Unlimited}, {Missing: 1}}, 7, 0},
		{nil, 0, spread.None},
	} {
		if got := spread.Ordinal(c.rooms, c.ordinal); got != c.want {
			t.Errorf("ordinal %d of %v: got %d, want %d", c.ordinal, c.rooms, got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		limits []int
		n      int
		want   []int
		rest   int
	}{
		{[]int{3, 5, -1}, 10, []int{3, 5, 2}, 0},
		{[]int{3, 5, -1}, 6, []int{3, 3, 0}, 0},
		{[]int{2, 4}, 5, []int{2, 3}, 0},
		{[]int{3, 5}, 10, []int{3, 5}, 2},
		{[]int{-1, 5}, 10, []int{10, 0}, 0},
		{[]int{0, -1}, 2, []int{0, 2}, 0},
		{[]int{1, -1}, -4, []int{0, 0}, 0},
		{nil, 3, []int{}, 3},
	} {
		got, rest := spread.Fill(c.limits, c.n)
		if !slices.Equal(got, c.want) || rest != c.rest {
			t.Errorf("%d over %v: got %v and %d, want %v and %d", c.n, c.limits, got, rest, c.want, c.rest)
		}
	}
}

func TestFillOrdinals(t *testing.T) {
	for _, c := range []struct {
		name     string
		limits   []int
		ordinals []int
		shares   [][]int
		rest     []int
	}{
		{"005", []int{3, 2, -1}, []int{0, 1, 2, 3, 4, 5, 6}, [][]int{{0, 1, 2}, {3, 4}, {5, 6}}, nil},
		{"start above all limits", []int{3, -1}, []int{5, 6}, [][]int{nil, {5, 6}}, nil},
		{"holes count", []int{3, -1}, []int{0, 2, 4}, [][]int{{0, 2}, {4}}, nil},
		{"no room", []int{1}, []int{0, 1, 2}, [][]int{{0}}, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shares, rest := spread.FillOrdinals(c.limits, c.ordinals)
			if diff := cmp.Diff(c.shares, shares); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(rest, c.rest) {
				t.Errorf("rest %v, want %v", rest, c.rest)
			}
		})
	}
}

// FuzzFill: pods are neither lost nor invented, no subset gets more than it
// takes, and what Fill does at once is what Choose does pod by pod.
func FuzzFill(f *testing.F) {
	f.Add([]byte{3, 5, 255}, 10)
	f.Add([]byte{2, 4}, 5)
	f.Fuzz(func(t *testing.T, bytes []byte, n int) {
		n = min(max(n, 0), 2000)
		var limits []int
		var rooms []spread.Room
		for _, b := range bytes {
			limit := int(b)
			if b == 255 {
				limit = spread.Unlimited
			}
			limits, rooms = append(limits, limit), append(rooms, spread.Room{Missing: limit})
		}
		counts, rest := spread.Fill(limits, n)
		one, left := make([]int, len(limits)), 0
		for range n {
			i := spread.Choose(rooms)
			if i == spread.None {
				left++
				continue
			}
			one[i]++
			if rooms[i].Missing > 0 {
				rooms[i].Missing--
			}
		}
		if !slices.Equal(counts, one) || rest != left {
			t.Errorf("%d over %v: %v and %d at once, %v and %d one by one", n, limits, counts, rest, one, left)
		}
	})
}
