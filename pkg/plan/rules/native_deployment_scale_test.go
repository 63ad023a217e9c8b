package rules

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestDeploymentRescale(t *testing.T) {
	const surge = "\nstrategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}"
	size := func(name string, replicas, available, desired, most int) ReplicaSetSize {
		rs := ReplicaSetSize{Name: name, Replicas: replicas, Available: available}
		if desired >= 0 {
			rs.Recorded = &RecordedSize{desired, most}
		}
		return rs
	}
	none := ReplicaSetSize{}
	for _, c := range []struct {
		name, spec string
		new        ReplicaSetSize
		old        []ReplicaSetSize
		want       string
	}{
		{"nothing changed", "replicas: 4", size("n", 4, 4, 4, 5), nil, "no"},
		{"scaled by somebody else before us", "replicas: 4", size("n", 3, 3, -1, 0), nil, "no"},
		{"the only one follows", "replicas: 6", size("n", 4, 4, 4, 5), []ReplicaSetSize{size("a", 0, 0, 2, 3)}, "6 [0]"},
		{"the only one is old", "replicas: 6", size("n", 0, 0, 4, 5), []ReplicaSetSize{size("a", 4, 4, 4, 5)}, "0 [6]"},
		{"none has pods", "replicas: 2\npaused: true", size("n", 0, 0, 0, 0), []ReplicaSetSize{size("a", 0, 0, 0, 0)}, "2 [0]"},
		{"none has pods, the template is new", "replicas: 2\npaused: true", none, []ReplicaSetSize{size("a", 0, 0, 0, 0), size("b", 0, 0, 0, 0)}, "0 [0 2]"},
		{"no ReplicaSet at all", "replicas: 2\npaused: true", none, nil, "0 []"},
		{"paused, nothing else", "replicas: 10\npaused: true" + surge, size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "5 [8]"},
		// The example of Kubernetes' documentation: 10 to 15 with surge 3, in the
		// middle of a rollout that stands at 8 old and 5 new.
		{"in proportion", "replicas: 15" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "7 [11]"},
		{"in proportion while paused", "replicas: 15\npaused: true" + surge, size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "7 [11]"},
		{"down in proportion", "replicas: 5" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "3 [5]"},
		{"the rest goes to the largest", "replicas: 11" + surge, size("n", 4, 0, 10, 13), []ReplicaSetSize{size("a", 4, 4, 10, 13), size("b", 5, 5, 10, 13)}, "4 [4 6]"},
		{"equal sizes: the newer grows", "replicas: 4" + surge, size("n", 3, 0, 3, 6), []ReplicaSetSize{size("a", 3, 3, 3, 6)}, "4 [3]"},
		{"equal sizes: the older shrinks", "replicas: 2" + surge, size("n", 3, 0, 3, 6), []ReplicaSetSize{size("a", 3, 3, 3, 6)}, "3 [2]"},
		{"to nothing", "replicas: 0" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "0 [0]"},
		{"the new one is enough", "replicas: 5\npaused: true" + surge, size("n", 5, 5, 5, 8), []ReplicaSetSize{size("a", 2, 2, 5, 8)}, "5 [0]"},
		{"Recreate spreads nothing", "replicas: 15\nstrategy: {type: Recreate}", size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "5 [8]"},
	} {
		d := &Deployment{Spec: &appsv1.DeploymentSpec{}, New: c.new, Old: c.old}
		decode(t, c.spec, d.Spec)
		got := "no"
		if updated, old, ok := d.Rescale(); ok {
			got = fmt.Sprint(updated, old)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDeploymentRescaleSums: whatever the sizes, a change in the middle of a
// rollout ends at the wanted number with its surge.
func TestDeploymentRescaleSums(t *testing.T) {
	for replicas := range 30 {
		for a := 1; a < 12; a++ {
			for b := 1; b < 12; b++ {
				rs := func(name string, n int) ReplicaSetSize {
					return ReplicaSetSize{Name: name, Replicas: n, Recorded: &RecordedSize{-1, a + b}}
				}
				d := &Deployment{Spec: &appsv1.DeploymentSpec{}, New: rs("n", a), Old: []ReplicaSetSize{rs("o", b)}}
				decode(t, fmt.Sprintf("replicas: %d\nstrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}", replicas), d.Spec)
				want := 0
				if replicas > 0 {
					want = replicas + 2
				}
				updated, old, _ := d.Rescale()
				if updated+old[0] != want || updated < 0 || old[0] < 0 {
					t.Fatalf("%d and %d to %d: %d and %d", a, b, replicas, updated, old[0])
				}
			}
		}
	}
}
