package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		total     int
		partition string
		want      int
	}{
		// The table of docs/kruise/workloads.md#partition.
		{10, "33%", 4},
		{10, "33.3%", 4},
		{5, "99%", 4},
		{5, "99.5%", 4},
		{5, "100.0%", 4},
		{5, "100%", 5},
		{5, "5", 5},
		{5, "9", 5},
		{1, "1%", 1},
		{1, "99%", 1},
		// SidecarSet, docs/kruise/sidecarset.md#selection and E16.
		{3, "50%", 2},
		{5, "1%", 1},
		{10, "30%", 3},
		// Recorded: 007 and 008.
		{8, "90%", 7},
		{8, "50%", 4},
		{8, "13%", 2},
		{8, "0%", 0},
		{4, "99%", 3},
		{4, "9", 4},
		// Odd values.
		{5, "-1", 0},
		{5, "-20%", 0},
		{5, "200%", 4},
		{5, "1000000000000000000000000%", 4},
		{1, "1000000000000000000000000%", 1},
		{5, "-1000000000000000000000000%", 0},
		{5, "half", 0},
		{5, "%", 0},
		{5, "NaN%", 0},
		{5, "Inf%", 0},
		{0, "50%", 0},
		{0, "3", 0},
		{2, "50%", 1},
		{2, "51%", 1},
	} {
		if got := Partition(value(c.partition), c.total); got != c.want {
			t.Errorf("Partition(%s of %d) = %d, want %d", c.partition, c.total, got, c.want)
		}
	}
	if got := Partition(nil, 5); got != 0 {
		t.Errorf("Partition(nil) = %d", got)
	}
}

// TestPartition_Bounds holds the promises for every whole percentage: never more
// than there are, and some pod is updated unless 100% was asked for.
func TestPartition_Bounds(t *testing.T) {
	for total := range 30 {
		for percent := range 101 {
			v := intstr.FromString(itoa(percent) + "%")
			got := Partition(&v, total)
			if got < 0 || got > total {
				t.Fatalf("%d%% of %d = %d", percent, total, got)
			}
			if total > 1 && percent < 100 && got == total {
				t.Fatalf("%d%% of %d updates nothing", percent, total)
			}
			if got*100 < percent*total && got != total-1 {
				t.Fatalf("%d%% of %d = %d keeps too few", percent, total, got)
			}
		}
	}
}

func TestDaemonSet_Partition(t *testing.T) {
	for _, c := range []struct {
		partition string
		desired   int
		want      int
	}{
		// Example 17.
		{"3", 5, 3},
		{"50%", 5, 2},
		{"99%", 5, 4},
		{"100%", 5, 5},
		{"9", 5, 9},
		{"-1", 5, 0},
		{"33.3%", 10, 0},
		{"x", 5, 0},
	} {
		if got := DaemonSetPartition(value(c.partition), c.desired); got != c.want {
			t.Errorf("DaemonSetPartition(%s of %d) = %d, want %d", c.partition, c.desired, got, c.want)
		}
	}
	if got := DaemonSetPartition(nil, 5); got != 0 {
		t.Errorf("DaemonSetPartition(nil) = %d", got)
	}
}

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

// FuzzPartition: no partition is less than none or more than all.
func FuzzPartition(f *testing.F) {
	for _, text := range []string{"0", "-1", "2147483647", "50%", "101%", "-5%", "%", "1e9%", "NaN%", "0.1%", "９%", "99999999999999999999", "1000000000000000000000000%"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, total int) {
		if len(text) > 32 {
			return
		}
		total = min(max(total, 0), 1<<31-1)
		for _, p := range []intstr.IntOrString{intstr.Parse(text), intstr.FromString(text)} {
			if n := Partition(&p, total); n < 0 || n > total {
				t.Errorf("%q of %d is %d", text, total, n)
			}
			if n := DaemonSetPartition(&p, total); n < 0 {
				t.Errorf("%q of %d is %d", text, total, n)
			}
		}
	})
}
