package input

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// memoryLimit is how large the heap may become before the collector works harder. What the
// limits accept needs less: the rest of 2 GiB is for what the collector has not seen yet.
const memoryLimit = 1000 << 20

// heapGrowth is how far the heap of a verb that reads manifests may grow over what is in use, in
// percent, before the collector comes. It is for as long as memory is far away: then the
// collector comes more often by itself.
const heapGrowth = 200

// signalGrace is how long after a signal a read-only verb may still take to end in order.
const signalGrace = 400 * time.Millisecond

// exitInterrupted is the exit code of a command that a signal ended, exitOverran that of one
// that took too long.
const (
	exitInterrupted = 130
	exitOverran     = 1
)

// Guard bounds what a verb takes that changes nothing in a cluster: the memory by a
// collector that works harder, the time by an end after the seconds that --limit gives, and
// after a signal it ends the process within a second, in whichever loop that is. Without an Exit, as in
// tests, it guards nothing.
func Guard(ctx context.Context, c *cobra.Command, p factory.Streams) {
	if p.Exit == nil {
		return
	}
	// A person who gives limits decides how much memory there is.
	if p.Getenv("GOMEMLIMIT") == "" && len(givenLimits(c)) == 0 {
		debug.SetMemoryLimit(memoryLimit)
		if p.Getenv("GOGC") == "" && c.Flags().Lookup(limitFlag) != nil {
			factory.SetHeapGrowth(heapGrowth)
		}
	}
	context.AfterFunc(ctx, func() {
		time.Sleep(signalGrace)
		_, _ = fmt.Fprintln(p.Err, "interrupted")
		p.Exit(exitInterrupted)
	})
	if most := secondsLimit(c); most > 0 {
		go endOverrun(most, p)
	}
}

// endOverrun ends a process that has been at work for so long.
func endOverrun(most time.Duration, p factory.Streams) {
	w := work{used: processorTime()}
	for at := time.Now(); w.done < most; {
		time.Sleep(min(most-w.done, time.Second))
		now := time.Now()
		w.add(now.Sub(at), processorTime())
		at = now
	}
	_, _ = fmt.Fprintf(p.Err, "error: not done after %s\nhint: read parts of the input apart, or raise the limit with --limit %s=N\n", most, limitSeconds)
	p.Exit(exitOverran)
}

// work is how long a process has been at work, by the clock. Other processes may leave it little of
// the processor; one that waits for a server or for its input uses none.
type work struct {
	done time.Duration
	// used is the processor time that the process had used at the last look.
	used time.Duration
}

// leastShare is the part of a processor that a process at work gets, one in so many.
const leastShare = 50

// add adds the time since the last look, if the process was at work in it.
func (w *work) add(passed, used time.Duration) {
	if (used-w.used)*leastShare >= passed {
		w.done += passed
	}
	w.used = used
}

const (
	limitSeconds = "seconds"
	limitOutput  = "output-bytes"
	// defaultSeconds is how long a verb that changes nothing may be at work.
	defaultSeconds = 55
)

// givenLimits is what --limit says, nothing for commands without it.
func givenLimits(c *cobra.Command) map[string]string {
	if c.Flags().Lookup(limitFlag) == nil {
		return nil
	}
	all, _ := c.Flags().GetStringToString(limitFlag)
	return all
}

// secondsLimit is how long the command may take.
func secondsLimit(c *cobra.Command) time.Duration {
	n := int64(defaultSeconds)
	if text, ok := givenLimits(c)[limitSeconds]; ok {
		if v, err := parseLimit(text); err == nil {
			n = v
		}
	}
	return time.Duration(n) * time.Second
}

// Bounded returns a writer on w that takes no more than --limit output-bytes of the command lets
// it: reports multiply what they are about, too.
func Bounded(c *cobra.Command, w io.Writer) io.Writer {
	limits := stage.Limits{}
	if n, err := parseLimit(givenLimits(c)[limitOutput]); err == nil {
		limits.OutputBytes = int(n)
	}
	return &limitedReader{w, limits.Room()}
}

type limitedReader struct {
	to   io.Writer
	room *stage.Room
}

// Write writes all of p or, where the limit is exceeded, nothing.
func (b *limitedReader) Write(p []byte) (int, error) {
	if !b.room.Take(tree.Weight{Bytes: int64(len(p))}) {
		return 0, b.room.Err("the output")
	}
	return b.to.Write(p)
}
