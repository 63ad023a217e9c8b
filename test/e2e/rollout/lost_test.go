package rollout

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// lostPods is how many pods the rollouts have whose time is measured.
const lostPods = 8

// TestDetached_TimeLostPerKill measures how much longer a rollout takes for each kill of its runner, by a
// signal that it cannot catch, at a random moment. With a step for each pod, nothing happens
// until the next runner has the Lease; within one step, Kruise's controller continues meanwhile.
// CHAOS_LOST is the number of kills, without which nothing is measured; the figures are in the log.
func TestDetached_TimeLostPerKill(t *testing.T) {
	t.Parallel()
	kills := int(number(t, "CHAOS_LOST", 0))
	if kills == 0 {
		t.Skip("it measures, and finds no fault that TestDetached_ContinuesAfterKills does not")
	}
	for name, steps := range map[string]string{"a step for each pod": "1,2,3,4,5,6,7,8", "one step": "100%"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := rollOutKilled(t, steps, 0)
			var killed time.Duration
			for range kills {
				killed += rollOutKilled(t, steps, 1)
			}
			mean := killed / time.Duration(max(kills, 1))
			t.Logf("%d pods: %s without a kill; with one %s on average of %d, which is %s more, %.1f times as long", lostPods,
				whole.Round(100*time.Millisecond), mean.Round(100*time.Millisecond), kills, (mean - whole).Round(100*time.Millisecond), mean.Seconds()/whole.Seconds())
		})
	}
}

// rollOutKilled rolls a CloneSet out by runners of a Job, the first of which are killed, and
// returns how long it took.
func rollOutKilled(t *testing.T, steps string, kills int) time.Duration {
	t.Helper()
	w := kinds["CloneSet"].workload
	w.text = strings.Replace(w.text, "replicas: 4", fmt.Sprint("replicas: ", lostPods, "\n  minReadySeconds: 1"), 1)
	w.text = strings.Replace(w.text, "maxUnavailable: 2", "maxUnavailable: 1", 1)
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	b := bedIn(t, c, namespace, w)
	j := b.detach(t, b.runners(t), "--steps", steps)
	began := time.Now()
	p := b.play(t, j, numbered(0), nil)
	b.drives(t, p)
	for i := range kills {
		at := 1 + rand.IntN(lostPods-2) // any moment of the rollout
		for running(b.pods(t), web2) < at {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		must(t, p.Process.Signal(syscall.SIGKILL))
		_ = p.Wait()
		p = b.play(t, j, numbered(i+1), nil)
	}
	p.ends(t, 0)
	took := time.Since(began)
	if n := running(b.pods(t), web2); n != lostPods {
		t.Errorf("%d pods are updated, want %d", n, lostPods)
	}
	return took
}
