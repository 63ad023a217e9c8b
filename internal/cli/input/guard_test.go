package input

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// guardedCommand runs Guard for a command with these arguments, and returns what ends the
// process, and what it says.
func guardedCommand(ctx context.Context, t *testing.T, args ...string) (exit chan int, said *bytes.Buffer) {
	t.Helper()
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	var f LimitFlag
	c := &cobra.Command{Use: "render", RunE: func(*cobra.Command, []string) error { return nil }}
	f.Add(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	exit, said = make(chan int), &bytes.Buffer{}
	Guard(ctx, c, factory.Streams{Err: said, Exit: func(code int) { exit <- code }})
	return exit, said
}

func TestGuard_EndsWithinASecondOfASignal(t *testing.T) {
	ctx, signal := context.WithCancel(context.Background())
	exit, said := guardedCommand(ctx, t)
	begin := time.Now()
	signal()
	if code := <-exit; code != exitInterrupted || said.String() != "interrupted\n" {
		t.Errorf("code %d, %q", code, said)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestGuard_EndsWhatIsBusyForTooLong(t *testing.T) {
	exit, said := guardedCommand(t.Context(), t, "--limit", "seconds=1")
	done := make(chan bool)
	go func() {
		for n := 0; ; n++ { // busy, as a loop over a hostile input is
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	defer close(done)
	if code := <-exit; code != exitOverran || !strings.Contains(said.String(), "--limit seconds=N") {
		t.Errorf("code %d, %q", code, said)
	}
}

// TestWork_IsTimeOfTheClock: a loaded machine makes the limit no longer; waiting does not count.
func TestWork_IsTimeOfTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		passed, used time.Duration // at each look
		want         time.Duration // after a hundred
	}{
		"alone on a machine":     {time.Second, 2 * time.Second, 100 * time.Second},
		"one of twenty":          {time.Second, 50 * time.Millisecond, 100 * time.Second},
		"one that is late":       {3 * time.Second, 100 * time.Millisecond, 300 * time.Second},
		"waits for a server":     {time.Second, 2 * time.Millisecond, 0},
		"stopped for some hours": {time.Hour, time.Second, 0},
	} {
		var w work
		var used time.Duration
		for range 100 {
			used += c.used
			w.add(c.passed, used)
		}
		if w.done != c.want {
			t.Errorf("%s: %s of work, want %s", name, w.done, c.want)
		}
	}
}

func TestGuard_CollectsRarelyWhereMemoryIsBounded(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	guardedCommand(t.Context(), t)
	if got := debug.SetGCPercent(100); got != heapGrowth {
		t.Errorf("the heap grows by %d%%", got)
	}
	guardedCommand(t.Context(), t, "--limit", "values=5Mi")
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("the heap grows by %d%% and no memory limit holds it", got)
	}
	c := &cobra.Command{}
	Guard(t.Context(), c, factory.Streams{Err: io.Discard, Exit: func(int) {}})
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("the heap of a verb that reads no manifests grows by %d%%", got)
	}
}

func TestGuard_BoundsTheMemoryUnlessLimitsAreGiven(t *testing.T) {
	guardedCommand(t.Context(), t)
	if got := debug.SetMemoryLimit(-1); got != memoryLimit {
		t.Errorf("the limit is %d", got)
	}
	debug.SetMemoryLimit(memoryLimit + 1)
	guardedCommand(t.Context(), t, "--limit", "values=5Mi")
	if got := debug.SetMemoryLimit(-1); got != memoryLimit+1 {
		t.Errorf("the limit is %d", got)
	}
	Guard(t.Context(), &cobra.Command{}, factory.Streams{Err: io.Discard})
	if got := debug.SetMemoryLimit(-1); got != memoryLimit+1 {
		t.Errorf("a process that is not ours has the limit %d", got)
	}
}
