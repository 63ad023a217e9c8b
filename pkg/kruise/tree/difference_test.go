package tree

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences_NamePlaces(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new any
		want     []string
	}{
		{"equal", map[string]any{"a": 1, "b": []any{"x"}}, map[string]any{"b": []any{"x"}, "a": 1.0}, nil},
		{"null is nothing", map[string]any{"a": nil}, map[string]any{}, nil},
		{"sorted by key", map[string]any{"b": 1, "a": 1}, map[string]any{"b": 2, "a": 2}, []string{"a", "b"}},
		{"by position", []any{"x", "y"}, []any{"y", "x"}, []string{"0", "1"}},
		{"longer list", []any{"x"}, []any{"x", "y", "z"}, []string{"1", "2"}},
		{"other kind", map[string]any{"a": map[string]any{}}, map[string]any{"a": []any{}}, []string{"a"}},
		{"empty map is something", map[string]any{}, map[string]any{"a": map[string]any{}}, []string{"a"}},
		{"deep", map[string]any{"a": []any{map[string]any{"b/c": "x", "d": 1}}}, map[string]any{"a": []any{map[string]any{"b/c": "y", "d": 1}}}, []string{"a/0/b/c"}},
		{"number and text", map[string]any{"a": 1}, map[string]any{"a": "1"}, []string{"a"}},
		{"booleans", map[string]any{"a": true}, map[string]any{"a": false}, []string{"a"}},
	} {
		var got []string
		for _, d := range Differences(nil, c.old, c.new) {
			got = append(got, strings.Join(d.Path, "/"))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if same := Same(c.old, c.new); same != (len(c.want) == 0) {
			t.Errorf("%s: the same is %t", c.name, same)
		}
	}
}

// TestSame_FindsWhatDifferencesFinds compares random values with each other.
func TestSame_FindsWhatDifferencesFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := 0
	for range 50_000 {
		a, b := randomValue(r, 3), randomValue(r, 3)
		want := len(Differences(nil, a, b)) == 0
		if Same(a, b) != want {
			t.Fatalf("%#v and %#v are the same: %t, want %t", a, b, !want, want)
		}
		if want {
			same++
		}
	}
	if same < 1000 {
		t.Errorf("only %d pairs are the same", same)
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		out := map[string]any{}
		for range r.IntN(3) {
			out[[]string{"a", "b"}[r.IntN(2)]] = randomValue(r, depth-1)
		}
		return out
	case n < 4 && depth > 0:
		out := make([]any, r.IntN(3))
		for i := range out {
			out[i] = randomValue(r, depth-1)
		}
		return out
	}
	return []any{nil, nil, 1, int64(1), 1.0, "1", true, false}[r.IntN(8)]
}

// TestDifferences_ShareNoPath: a long list of changes under one parent must not
// write over each other's paths.
func TestDifferences_ShareNoPath(t *testing.T) {
	old := map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{"x": 1, "y": 1, "z": 1}}}}
	var got []string
	for _, d := range Differences(nil, old, map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{}}}}) {
		got = append(got, strings.Join(d.Path, "/"))
	}
	if diff := cmp.Diff([]string{"a/b/c/x", "a/b/c/y", "a/b/c/z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSameLeaf_ComparesNumbersByValue(t *testing.T) {
	for _, pair := range [][2]any{{1, int64(1)}, {int32(2), 2.0}, {uint64(3), 3}, {"a", "a"}, {nil, nil}, {true, true}} {
		if !sameLeaf(pair[0], pair[1]) {
			t.Errorf("%#v and %#v differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]any{{1, "1"}, {1, nil}, {nil, false}, {[]any{}, map[string]any{}}, {map[string]any{}, nil}, {"a", "b"}} {
		if sameLeaf(pair[0], pair[1]) {
			t.Errorf("%#v and %#v are the same", pair[0], pair[1])
		}
	}
}
