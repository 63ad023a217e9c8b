package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func reserve(texts ...string) []intstr.IntOrString {
	var out []intstr.IntOrString
	for _, s := range texts {
		out = append(out, *value(s))
	}
	return out
}

func TestOrdinals(t *testing.T) {
	for _, c := range []struct {
		name            string
		start, replicas int
		reserved        []intstr.IntOrString
		want            []int
	}{
		{"plain", 0, 3, nil, []int{0, 1, 2}},
		{"none", 0, 0, reserve("0"), []int{}},
		{"negative replicas", 0, -1, nil, []int{}},
		{"4 replicas without ordinals 1 and 3", 0, 4, reserve("1", "3"), []int{0, 2, 4, 5}},
		{"example 13", 0, 5, reserve("1"), []int{0, 2, 3, 4, 5}},
		{"start", 3, 2, nil, []int{3, 4}},
		{"start and reserve", 3, 2, reserve("3", "5"), []int{4, 6}},
		{"a range", 0, 3, reserve("1-3"), []int{0, 4, 5}},
		{"range and number", 0, 3, reserve("0", "2-3"), []int{1, 4, 5}},
		{"range of one", 0, 2, reserve("0-0"), []int{1, 2}},
		{"number as text", 0, 2, []intstr.IntOrString{intstr.FromString("1")}, []int{0, 2}},
		{"backwards range: all ignored", 0, 3, reserve("1", "3-2"), []int{0, 1, 2}},
		{"unreadable: all ignored", 0, 2, reserve("0", "a-b"), []int{0, 1}},
		{"half a range: all ignored", 0, 2, reserve("0-"), []int{0, 1}},
		{"beyond", 0, 2, reserve("7"), []int{0, 1}},
	} {
		if diff := cmp.Diff(c.want, Ordinals(c.start, c.replicas, c.reserved)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestOrdinalOf(t *testing.T) {
	for name, want := range map[string]int{"web-0": 0, "web-12": 12, "a-b-3": 3, "web": -1, "7": -1, "web-x": -1, "web-": -1, "": -1} {
		if got := OrdinalOf(&cluster.Pod{Name: name}); got != want {
			t.Errorf("OrdinalOf(%q) = %d, want %d", name, got, want)
		}
	}
}
