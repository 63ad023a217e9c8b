package kubectl

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/cmd/wait"
)

// waiting is kubectl's wait, which ends at a signal as all commands do: its library
// would end the process itself, with 1.
func waiting(get genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	flags := wait.NewWaitFlags(get, streams)
	c := wait.NewCmdWait(get, streams)
	c.ResetFlags()
	flags.AddFlags(c)
	_ = c.Flags().MarkHidden("local")
	c.Run = func(c *cobra.Command, args []string) {
		if c.Flags().Changed("local") { // kubectl's breaks down
			cmdutil.CheckErr(cmdutil.UsageErrorf(c, "--local: a file does not change, there is nothing to wait for"))
		}
		o, err := flags.ToOptions(args)
		cmdutil.CheckErr(err)
		signals := listen()
		for i, met := range o.ConditionFn {
			o.ConditionFn[i] = func(ctx context.Context, about *resource.Info, o *wait.WaitOptions) (runtime.Object, bool, error) {
				return met(halting{ctx, signals, forever}, about, o)
			}
		}
		cmdutil.CheckErr(o.RunWaitContext(c.Context()))
	}
	return c
}

// forever is what is left to do until the process ends.
func forever() { select {} }

// signals tells whether one of those that end us has come; nothing else takes it out.
type signals chan os.Signal

func listen() signals {
	s := make(signals, 1)
	signal.Notify(s, os.Interrupt, syscall.SIGTERM)
	return s
}

// came reports whether a signal has come that any part of this process was notified of.
func (s signals) came() bool {
	// A signal is handed to all that listen under one lock, which this takes: a goroutine that
	// has it has it after us, or we have it, too.
	signal.Stop(make(chan os.Signal))
	return len(s) > 0
}

// halting is a context below which nothing more ends once a signal has come, not with
// what is above either, and who cancels what is below halts. kubectl's library cancels
// and then ends the process, and so does not come to that.
type halting struct {
	context.Context //nolint:containedctx // it is one

	signals signals
	halt    func()
}

// Value hides what is above, or contexts below would not ask AfterFunc.
func (halting) Value(any) any { return nil }

// AfterFunc is asked by every context below; what it returns is called when that is
// cancelled, after it has let its own go.
func (h halting) AfterFunc(f func()) func() bool {
	stop := context.AfterFunc(h.Context, func() {
		if !h.signals.came() { // cancelling what has ended would not halt
			f()
		}
	})
	return func() bool {
		if h.signals.came() {
			h.halt()
		}
		return stop()
	}
}
