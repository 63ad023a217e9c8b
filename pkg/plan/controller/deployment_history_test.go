package controller

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestDeploymentHistories: whatever templates come in the middle of a rollout,
// never more pods are there than the surge allows, never fewer available than
// promised, and it ends with the last template everywhere.
func TestDeploymentHistories(t *testing.T) {
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		text := func(image int) string {
			return edited(deploymentYAML, "web:1", fmt.Sprint("web:", image))
		}
		replicas, surge := 1+rng.IntN(8), rng.IntN(4)
		spec := []string{"replicas: 4", fmt.Sprint("replicas: ", replicas), "maxSurge: 1", fmt.Sprint("maxSurge: ", surge), "maxUnavailable: 1", fmt.Sprint("maxUnavailable: ", rng.IntN(4))}
		l := newLab(t, edited(text(1), spec...))
		l.settle()
		l.seconds(3)
		image := 1
		for range 4 {
			image = 1 + rng.IntN(4)
			l.write(edited(text(image), spec...))
			for range rng.IntN(5) {
				l.second()
				bounds(t, seed, l)
			}
		}
		for range 60 {
			l.second()
			bounds(t, seed, l)
		}
		if pending := rules.DeploymentPending(l.deployment()); !pending.Done() {
			t.Errorf("seed %d: waits for %v, %s", seed, pending, l.sizes())
		}
		for _, c := range l.children {
			for _, p := range c.pods {
				if imageOf(p) != fmt.Sprint(image) {
					t.Errorf("seed %d: pod %s has image %s", seed, p.Name, imageOf(p))
				}
			}
		}
	}
}

func bounds(t *testing.T, seed int, l *lab) {
	t.Helper()
	limits := rules.LimitsOfDeployment(&l.deployment().Spec)
	total, available := 0, 0
	for _, c := range l.children {
		active := activePods(c.pods)
		total += len(active)
		for _, p := range active {
			if rules.Available(p, 0, l.now) {
				available++
			}
		}
	}
	if total > limits.Replicas+limits.MaxSurge || available < limits.Replicas-limits.MaxUnavailable {
		t.Fatalf("seed %d: %d pods, %d available, of %+v", seed, total, available, limits)
	}
}
