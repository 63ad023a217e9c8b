package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInPlaceBatches(t *testing.T) {
	at := func(name string, priority int, keys ...string) Affected {
		return Affected{Name: name, Priority: &priority, Keys: keys}
	}
	free := func(name string, keys ...string) Affected { return Affected{Name: name, Keys: keys} }
	for _, c := range []struct {
		name string
		in   []Affected
		want [][]string
	}{
		{"nothing", nil, nil},
		{"no priorities", []Affected{free("a"), free("b")}, [][]string{{"a", "b"}}},
		{"two priorities (074)", []Affected{at("main", 0), at("side", 1)}, [][]string{{"side"}, {"main"}}},
		{"ordered", []Affected{at("a", 0), at("b", -1), at("c", -2)}, [][]string{{"a"}, {"b"}, {"c"}}},
		{"equal ones together", []Affected{at("a", 5), at("b", 1), at("c", 5)}, [][]string{{"a", "c"}, {"b"}}},
		{"without a priority at once", []Affected{at("a", 1), free("b"), at("c", 2)}, [][]string{{"b", "c"}, {"a"}}},
		{"a shared key pulls in", []Affected{at("a", 2, "x"), at("b", 1, "x"), at("c", 0)}, [][]string{{"a", "b"}, {"c"}}},
		{"through a third", []Affected{at("a", 2, "x"), at("b", 1, "x", "y"), at("c", 0, "y")}, [][]string{{"a", "b", "c"}}},
		{"other keys do not", []Affected{at("a", 2, "x"), at("b", 1, "y")}, [][]string{{"a"}, {"b"}}},
	} {
		if diff := cmp.Diff(c.want, InPlaceBatches(c.in)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
