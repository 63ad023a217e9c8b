package lower

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func TestKept(t *testing.T) {
	for _, c := range []struct {
		partition string
		replicas  int
		want      int
	}{
		// docs/kruise/workloads.md#partition
		{"33%", 10, 4},
		{"33.3%", 10, 4},
		{"99%", 5, 4},
		{"99.5%", 5, 4},
		{"100.0%", 5, 4},
		{"100%", 5, 5},
		{"5", 5, 5},
		{"9", 5, 5},
		{"1%", 1, 1},
		{"99%", 1, 1},
		// beyond
		{"0%", 5, 0},
		{"0", 5, 0},
		{"-3", 5, 0},
		{"7%", 100, 7},
		{"150%", 5, 4},
		{"60%", 0, 0},
		{"half", 5, 0},
		{"99999999999999999999%", 5, 4},
		{"1e400%", 5, 0},
	} {
		partition := intstr.Parse(c.partition)
		if got := rules.Partition(&partition, c.replicas); got != c.want {
			t.Errorf("kept(%s of %d) = %d, want %d", c.partition, c.replicas, got, c.want)
		}
	}
}

func TestCloneSetBudget(t *testing.T) {
	for _, c := range []struct {
		surge, unavailable string
		replicas           int
		more, down         int
	}{
		{"0", "20%", 7, 0, 2}, // without surge: up
		{"1", "20%", 7, 1, 1}, // with surge: down
		{"10%", "20%", 3, 1, 0},
		{"0", "33.3%", 10, 0, 0}, // fractional: 0
		{"33.3%", "20%", 7, 0, 2},
		{"0", "3", 2, 0, 3},
		{"0", "150%", 10, 0, 15},
	} {
		more, down := cloneSetBudget(intstr.Parse(c.surge), intstr.Parse(c.unavailable), c.replicas)
		if more != c.more || down != c.down {
			t.Errorf("surge %s, unavailable %s of %d: %d, %d; want %d, %d", c.surge, c.unavailable, c.replicas, more, down, c.more, c.down)
		}
	}
}

func TestDeploymentRolling(t *testing.T) {
	const (
		same                   = "cloneset/max-unavailable"
		zero, rounded, percent = same + "-zero", same + "-rounded", same + "-percent"
		autoscaled             = -1
	)
	for _, c := range []struct {
		surge, unavailable         string
		replicas                   int
		wantSurge, wantUnavailable string
		rule                       string
	}{
		{"0", "20%", 1, "0", "20%", same},
		{"0", "20%", 5, "0", "20%", same},
		{"0", "20%", 6, "0", "2", rounded},
		{"0", "20%", 10, "0", "20%", same},
		{"0", "20%", 0, "0", "20%", percent},
		{"0", "20%", autoscaled, "0", "20%", percent},
		{"0", "100%", autoscaled, "0", "100%", same},
		{"1", "20%", autoscaled, "1", "20%", same},
		{"0", "2", autoscaled, "0", "2", same},
		{"0", "0", 0, "0", "1", zero},
		{"0", "0%", autoscaled, "0", "1", zero},
		{"0", "33.3%", 10, "0", "1", zero},
		{"2", "33.3%", 10, "2", "0", same},
		{"2", "0", 4, "2", "0", same},
		{"150%", "150%", 10, "150%", "100%", same},
		{"12.5%", "30%", 9, "0", "3", rounded},
		{"1", "20%", 7, "1", "20%", same},
		{"0", "9", 3, "0", "9", same},
	} {
		var replicas *int
		if c.replicas != autoscaled {
			replicas = &c.replicas
		}
		got := deploymentRolling(intstr.Parse(c.surge), intstr.Parse(c.unavailable), replicas)
		if got.surge.String() != c.wantSurge || got.unavailable.String() != c.wantUnavailable || got.rule != c.rule {
			t.Errorf("surge %s, unavailable %s of %d = %s, %s, %s; want %s, %s, %s", c.surge, c.unavailable, c.replicas,
				got.surge.String(), got.unavailable.String(), got.rule, c.wantSurge, c.wantUnavailable, c.rule)
		}
	}
}

// What a Deployment makes of the rendered values must be what the CloneSet
// made of its own, at every size.
func TestDeploymentRolling_KeepsTheLimitsOfTheCloneSet(t *testing.T) {
	values := []string{"0", "1", "3", "1%", "20%", "25%", "33%", "33.3%", "50%", "99%", "100%", "150%"}
	for _, surge := range values {
		for _, unavailable := range values {
			for replicas := 1; replicas <= 30; replicas++ {
				s, m := intstr.Parse(surge), intstr.Parse(unavailable)
				wantMore, wantDown := cloneSetBudget(s, m, replicas)
				r := deploymentRolling(s, m, &replicas)
				more, down := deploymentBudget(r.surge, r.unavailable, replicas)
				if wantMore == 0 && wantDown == 0 {
					wantDown = 1 // nothing could move; reported
				}
				if more != wantMore || min(down, replicas) != min(wantDown, replicas) {
					t.Errorf("surge %s, unavailable %s of %d: %d, %d; want %d, %d", surge, unavailable, replicas, more, down, wantMore, wantDown)
				}
			}
		}
	}
}

func TestStatefulSetRolling(t *testing.T) {
	const (
		same          = "cloneset/max-unavailable"
		zero, percent = same + "-zero", same + "-percent"
		autoscaled    = -1
	)
	for _, c := range []struct {
		surge, unavailable string
		replicas           int
		want, rule         string
	}{
		{"0", "20%", 5, "1", same},
		{"0", "20%", 7, "2", same},
		{"1", "20%", 7, "1", same},
		{"1", "20%", 3, "1", zero},
		{"0", "0", 3, "1", zero},
		{"0", "150%", 4, "4", same},
		{"0", "20%", autoscaled, "20%", percent},
		{"0", "3", autoscaled, "3", same},
		{"0", "12.5%", autoscaled, "1", zero},
		{"0", "200%", 0, "100%", percent},
	} {
		var replicas *int
		if c.replicas != autoscaled {
			replicas = &c.replicas
		}
		got := statefulSetRolling(intstr.Parse(c.surge), intstr.Parse(c.unavailable), replicas)
		if got.unavailable.String() != c.want || got.rule != c.rule {
			t.Errorf("surge %s, unavailable %s of %d = %s, %s; want %s, %s", c.surge, c.unavailable, c.replicas, got.unavailable.String(), got.rule, c.want, c.rule)
		}
	}
}
