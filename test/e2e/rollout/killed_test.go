package rollout

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestKilled kills the program itself, by a signal that it cannot catch, and resumes
// with another: the lease has its real times, so each history takes a minute.
// CHAOS_KILLED is how many there are.
func TestKilled(t *testing.T) {
	first, count := number(t, "CHAOS_SEED", 0), number(t, "CHAOS_KILLED", 2)
	path, err := product.Binary()
	must(t, err)
	atATime(t, first, count, func(t *testing.T, seed uint64) {
		t.Helper()
		// Slow starts, broken watches and lost answers, but few: the kill is the matter.
		newHistory(t, seed).killed(t, path)
	})
}

// killed rolls out by processes, the first of which are killed.
func (h *history) killed(t *testing.T, path string) {
	t.Helper()
	t.Cleanup(func() { h.tellIfFailed(t) })
	h.weather.Requests /= 4
	available := watchAvailability(t, h.bed)
	name := strings.ToLower(h.object.Kind)
	if h.object.Group != "" {
		name += "." + h.object.Group
	}
	name += "/web"
	for kills := 1 + h.chance.IntN(2); ; kills-- {
		rec, err := kube.Records{Client: h.Client()}.Load(t.Context(), h.object.Ref)
		args := []string{"rollout", "resume", name}
		if err != nil {
			args = []string{"rollout", "run", name, "--image", "main=" + web2, "--pull-images", "never", "--driver", string(h.policy.Driver), "--yes"}
			if list := kinds[h.kind].steps; list != nil {
				args = append(args, "--steps", strings.Join(list, ","))
			}
		}
		after := 5 * time.Minute
		if kills > 0 {
			after = time.Second + time.Duration(h.chance.Int64N(int64(3*time.Second)))
		}
		if h.program(t, path, args, after) == 0 {
			break
		}
		if err == nil && rec.Progress.Halted != "" || kills < -5 {
			t.Fatal("it does not end")
		}
	}
	rec, err := kube.Records{Client: h.Client()}.Load(t.Context(), h.object.Ref)
	must(t, err)
	h.plan = &rec.Plan
	h.outcome(t, available)
}

// program runs one process, which is killed after a time, and returns its exit code.
func (h *history) program(t *testing.T, path string, args []string, after time.Duration) int {
	t.Helper()
	p, err := proxy.New(h.Config(), &h.log, h.weather, h.chance.Uint64())
	must(t, err)
	defer p.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "--kubeconfig", kubeconfig(t, p.Config()), "-n", h.namespace)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the exit code says it
	h.tell("%v: %d\n%s", args, cmd.ProcessState.ExitCode(), &out)
	return cmd.ProcessState.ExitCode()
}
