package kubectl

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ending"
)

// Until runs what does not look at ctx, and leaves it behind when ctx ends: the process
// is about to end, too.
func Until(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return Interrupted(ctx, err)
	case <-ctx.Done():
		return ending.ErrInterrupted
	}
}

// Interrupted is the end of what followed something: where it ended because somebody
// ended it, nothing is left to say.
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ending.ErrInterrupted
	}
	return err
}

// TakeSignals has cancel called at the next signal, and nobody else told. kubectl's
// library listens, too, once it follows something, and ends the process itself, with a
// code of its own: call this behind its back.
func TakeSignals(cancel func()) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	signal.Reset(ends...)
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-got
		signal.Stop(got)
		cancel()
	}()
}
