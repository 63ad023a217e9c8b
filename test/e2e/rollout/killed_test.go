package rollout

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestKilled_ResumesElsewhere kills the program itself, by a signal that it cannot catch, and resumes
// with another: the lease has its real times, so each history takes a minute.
// CHAOS_KILLED is how many there are.
func TestKilled_ResumesElsewhere(t *testing.T) {
	t.Parallel()
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
	deaths, tries := 0, 0
	for kills := 1 + h.chance.IntN(2); ; tries++ {
		args, halted := h.command(t)
		at := 0
		if deaths < kills {
			at = 10 + h.chance.IntN(20)
		}
		// The weather may end a process before it is killed: then the next one is.
		code := h.program(t, path, args, at)
		if code == 0 {
			break
		}
		if code < 0 {
			deaths++
		}
		if halted || tries > 8 {
			t.Fatal("it does not end")
		}
	}
	if deaths == 0 {
		t.Error("no process was killed")
	}
	rec, err := kube.Records{Client: h.Client()}.Load(t.Context(), h.object.Ref)
	must(t, err)
	h.plan = &rec.Plan
	h.outcome(t)
}

// command is the one that starts the rollout, or continues it.
func (h *history) command(t *testing.T) (args []string, halted bool) {
	t.Helper()
	name := h.typed()
	rec, err := kube.Records{Client: h.Client()}.Load(t.Context(), h.object.Ref)
	if err == nil {
		return []string{"rollout", "resume", name}, rec.Progress.Failed != ""
	}
	args = []string{"rollout", "run", name, "--image", "main=" + web2, "--pull-images", "never", "--driver", string(h.policy.Driver), "--yes"}
	if list := kinds[h.kind].steps; list != nil {
		args = append(args, "--steps", strings.Join(list, ","))
	}
	return args, false
}

// program runs one process, which is killed when it makes a request of a number, 0
// for never, and returns its exit code.
func (h *history) program(t *testing.T, path string, args []string, at int) int {
	t.Helper()
	p, cfg := h.way(t)
	defer p.Kill()
	ctx, kill := context.WithTimeout(t.Context(), testcluster.Patience)
	defer kill()
	if at > 0 {
		p.At(at, kill)
	}
	cmd := exec.CommandContext(ctx, path, append(args, "--kubeconfig", kubeconfig(t, cfg), "-n", h.namespace)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the exit code says it
	h.tell("%v, killed at request %d: %d\n%s", args, at, cmd.ProcessState.ExitCode(), &out)
	return cmd.ProcessState.ExitCode()
}
