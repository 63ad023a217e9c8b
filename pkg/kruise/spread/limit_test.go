package spread_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
)

// TestLimits: numbers are those of the recordings where they can be.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		max      []string
		replicas int
		want     []int
	}{
		{"numbers", []string{"3", "5", ""}, 10, []int{3, 5, -1}},
		{"more than there are", []string{"30"}, 10, []int{30}},
		{"rounded up (002)", []string{"30%", "70%"}, 5, []int{2, 4}},
		{"rounded up (003)", []string{"25%", ""}, 7, []int{2, -1}},
		{"even", []string{"50%", "50%"}, 4, []int{2, 2}},
		{"of nothing", []string{"30%", "70%"}, 0, []int{0, 0}},
		{"zero", []string{"0", "0%"}, 9, []int{0, 0}},
		{"refused by the webhook", []string{"-3", "many", "-5%"}, 9, []int{0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var subsets []kruise.WorkloadSpreadSubset
			for _, text := range c.max {
				var s kruise.WorkloadSpreadSubset
				if text != "" {
					v := intstr.Parse(text)
					s.MaxReplicas = &v
				}
				subsets = append(subsets, s)
			}
			if got := spread.Limits(subsets, c.replicas); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct{ limit, pods, want int }{
		{4, 1, 3}, {4, 4, 0}, {1, 4, 0}, {spread.Unlimited, 9, spread.Unlimited}, {0, 0, 0},
	} {
		if got := spread.Missing(c.limit, c.pods); got != c.want {
			t.Errorf("%d of %d: got %d, want %d", c.pods, c.limit, got, c.want)
		}
	}
}
