package rollout

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestGroup_ManyWorkloadsShareWatches: many workloads in four waves, 5 % of which fail. The others are completed,
// and what the group asks the server for does not grow with them but for the writes: each kind
// of object is listed and watched once. CHAOS_GROUP is how many there are, and without it the story of this name in
// internal/cli/rollout tells it of twenty; the figures of one
// and of that many are in the log.
func TestGroup_ManyWorkloadsShareWatches(t *testing.T) {
	t.Parallel()
	size := int(number(t, "CHAOS_GROUP", 0))
	if size == 0 {
		t.Skip("for make test-scale")
	}
	for _, n := range []int{1, size} {
		waves, fails := make([]int, n), 0
		for i := range waves {
			waves[i] = i * 4 / n
		}
		b := newTroopOf(t, 1, waves, nil, func(i int) string {
			if i%20 == 10 {
				fails++
				return badImage
			}
			return web2
		})
		b.rollOutMany(t, fails)
	}
}

// rollOutMany rolls the troop out by one process, some of whose rollouts fail, and measures it.
func (b *troop) rollOutMany(t *testing.T, fails int) {
	t.Helper()
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	defer p.Kill()
	path, err := product.Binary()
	must(t, err)
	args := b.group("--group", "all", "--parallel", "50", "--max-failures", fmt.Sprint(fails), "--driver", "kruise", "--kubeconfig", kubeconfig(t, p.Config()), "-n", b.namespace)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	began := time.Now()
	must(t, cmd.Start())
	memory := mostMemory(cmd)
	err = cmd.Wait()
	took := time.Since(began)
	want := fmt.Sprintf("%d of %d completed", b.size, b.size)
	code := 0
	if fails > 0 {
		want, code = fmt.Sprintf("%s failed: ", rolloutsText(fails)), 3
	}
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(text.String(), want) {
		t.Fatalf("exit %d, want %d and %q: %v\n%s", got, code, want, err, &text)
	}
	updated := 0
	for _, n := range b.updated(t, web2) {
		updated += n
	}
	if want := b.pods * (b.size - fails); updated != want {
		t.Errorf("%d pods are updated, want %d", updated, want)
	}
	counts := p.Log.Count()
	b.readsOnce(t, counts)
	t.Logf("%d workloads, %d failed, in %s: %d MiB at most, %s of CPU\n%s", b.size, fails, took.Round(time.Second),
		memory(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(10*time.Millisecond), table(counts))
}

// readsOnce fails where a kind of object was listed or watched more than once, but for the
// records: their ConfigMaps are watched once, and that of the group once. Leases are not watched.
func (b *troop) readsOnce(t *testing.T, counts map[string]int) {
	t.Helper()
	for what, n := range counts {
		verb, kind, _ := strings.Cut(what, " ")
		most := 1
		switch kind {
		case "leases":
			most = 0 // one is watched only while another process holds it
		case "configmaps", "rollouts": // a server without Kruise Rollout is asked for both versions
			most = 2
		}
		if (verb == "list" || verb == "watch") && n > most {
			t.Errorf("%d workloads: %s: %d times", b.size, what, n)
		}
	}
}

// mostMemory reads again and again how much memory a process has had at most, in MiB: what the
// system says of it in the end is that of its parent as well.
func mostMemory(cmd *exec.Cmd) func() int {
	most := make(chan int)
	go func() {
		n := 0
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			_, after, ok := strings.Cut(string(text), "VmHWM:")
			if err != nil || !ok {
				most <- n
				return
			}
			if now, err := strconv.Atoi(strings.Fields(after)[0]); err == nil {
				n = now / 1024
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return func() int { return <-most }
}

func rolloutsText(n int) string {
	if n == 1 {
		return "1 rollout"
	}
	return fmt.Sprint(n, " rollouts")
}

// table is a line for each kind of request.
func table(counts map[string]int) string {
	var out strings.Builder
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "%6d  %s\n", counts[what], what)
	}
	return out.String()
}
