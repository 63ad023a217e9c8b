package rules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
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

// TestPartitionBounds holds the promises for every whole percentage: never more
// than there are, and some pod is updated unless 100% was asked for.
func TestPartitionBounds(t *testing.T) {
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

func TestDaemonSetPartition(t *testing.T) {
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
