package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
)

// finishJobs waits for Jobs, before workloads are rolled out that may need what they
// do: a migration, images on nodes.
func (w *work) finishJobs(ctx context.Context) error {
	if !w.wait {
		return nil
	}
	ctx, done := w.limited(ctx)
	defer done()
	for _, it := range w.items {
		if it.final == nil || endless(it.final) != "" || standing(it.final).over && standing(it.final).failed == "" {
			continue
		}
		if err := w.finish(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// limited bounds the waiting for Jobs: by their own limit, and by that of all.
func (w *work) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, all := w.rollouts.Within(ctx)
	if w.jobTimeout == 0 {
		return ctx, all
	}
	ctx, own := context.WithTimeout(ctx, w.jobTimeout)
	return ctx, func() { own(); all() }
}

// finish waits for one.
func (w *work) finish(ctx context.Context, it *item) error {
	begun := time.Now()
	var last job
	defer w.beat(nameOf(it.object))()
	err := w.client.Await(ctx, it.object, func(u *unstructured.Unstructured) bool {
		last = standing(u)
		return last.over
	})
	switch {
	case err == nil && last.failed != "":
		w.done(it, "failed: "+last.failed)
		return command.ErrFailed
	case err == nil:
		w.done(it, "finished")
		return nil
	case errors.Is(err, objects.ErrGone):
		w.done(it, "failed: it was deleted before it was done")
		return command.ErrFailed
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		w.done(it, fmt.Sprintf("not finished after %s", time.Since(begun).Round(time.Second)))
		return command.ErrTimedOut
	case ctx.Err() != nil:
		return command.ErrInterrupted
	}
	return it.fault(err)
}

// heartbeat is how often a line says that something is still waited for.
const heartbeat = 10 * time.Second

// beat says what is waited for, again and again until it is stopped.
func (w *work) beat(what string) (stop func()) {
	say := func() { _, _ = fmt.Fprintf(w.factory.Streams.Err, "waiting for %s to finish\n", what) }
	say()
	ticker, over := time.NewTicker(heartbeat), make(chan struct{})
	var gone sync.WaitGroup
	gone.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				say()
			}
		}
	})
	return func() {
		ticker.Stop()
		close(over)
		gone.Wait()
	}
}
