package bounds

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/heap"
)

// memory is how large the heap may become before the collector works harder. What the
// limits accept needs less: the rest of 2 GiB is for what the collector has not seen yet.
const memory = 1000 << 20

// growth is how far the heap of a verb that reads manifests may grow over what is in use, in
// percent, before the collector comes. It is for as long as memory is far away: then the
// collector comes more often by itself.
const growth = 200

// impatience is how long after a signal a read-only verb may still take to end in order.
const impatience = 400 * time.Millisecond

// interrupted is the exit code of a command that a signal ended, overran that of one
// that took too long.
const (
	interrupted = 130
	overran     = 1
)

// Process is what a guard has of the process: where it writes, and what ends it. A nil
// Exit, as in tests, guards nothing.
type Process struct {
	Err    io.Writer
	Exit   func(code int)
	Getenv func(string) string
}

// Guard bounds what a verb takes that changes nothing in a cluster: the memory by a
// collector that works harder, the time by an end after the seconds that --limit gives, and
// after a signal it ends the process within a second, in whichever loop that is.
func Guard(ctx context.Context, c *cobra.Command, p Process) {
	if p.Exit == nil {
		return
	}
	if p.Getenv("GOMEMLIMIT") == "" && !raised(c) {
		debug.SetMemoryLimit(memory)
		if c.Flags().Lookup(flag) != nil {
			heap.SetGrowth(growth)
		}
	}
	context.AfterFunc(ctx, func() {
		time.Sleep(impatience)
		_, _ = fmt.Fprintln(p.Err, "interrupted")
		p.Exit(interrupted)
	})
	if most := seconds(c); most > 0 {
		go overrun(most, p)
	}
}

// overrun ends a process that is still busy after so long. One that waits, for a server or
// for its input, has used little time of the processor and may go on.
func overrun(most time.Duration, p Process) {
	time.Sleep(most)
	for busy() < most*2/3 {
		time.Sleep(time.Second)
	}
	_, _ = fmt.Fprintf(p.Err, "error: not done after %s\nhint: read parts of the input apart, or raise the limit with --limit %s=N\n", most, limitSeconds)
	p.Exit(overran)
}

const (
	limitSeconds = "seconds"
	// DefaultSeconds is how long a verb that changes nothing may be busy.
	DefaultSeconds = 55
)

// given is what --limit says, nothing for commands without it.
func given(c *cobra.Command) map[string]string {
	if c.Flags().Lookup(flag) == nil {
		return nil
	}
	all, _ := c.Flags().GetStringToString(flag)
	return all
}

// seconds is how long the command may take.
func seconds(c *cobra.Command) time.Duration {
	n := int64(DefaultSeconds)
	if text, ok := given(c)[limitSeconds]; ok {
		if v, err := parse(text); err == nil {
			n = v
		}
	}
	return time.Duration(n) * time.Second
}

// raised reports whether the person has given limits, and so decides how much memory
// there is.
func raised(c *cobra.Command) bool { return len(given(c)) > 0 }
