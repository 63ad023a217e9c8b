package factory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// The times that requests have which begin when the command should end: what was begun is
// let go of, such as a lease.
const (
	lastWords   = 3 * time.Second
	lastAnswers = time.Second
	lateAnswer  = 300 * time.Millisecond
)

// bounds end requests with the command: not every library hands a context down to them, and a
// server that never answers would hold the command up.
type bounds struct {
	mu sync.Mutex
	// ends is done when a signal comes; nil is never. came is when it did.
	ends context.Context //nolint:containedctx // it is the process's
	came time.Time
	// until is when nothing new is waited for, zero is never.
	until time.Time
}

// EndWith has requests end with a context, such as the one that a signal ends: reading at
// once, the rest soon after.
func (f *Factory) EndWith(ctx context.Context) {
	f.bounds.mu.Lock()
	defer f.bounds.mu.Unlock()
	f.bounds.ends = ctx
	context.AfterFunc(ctx, func() { f.bounds.signalled() })
}

// signalled notes when the command should end.
func (b *bounds) signalled() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.came.IsZero() {
		b.came = time.Now()
	}
	return b.came
}

// waits reports whether a request may wait so long to be repeated: it has to end with the
// command.
func (b *bounds) waits(r *http.Request, again time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := time.Now().Add(again)
	deadline, ok := r.Context().Deadline()
	return r.Context().Done() != nil && (!ok || at.Before(deadline)) && (b.until.IsZero() || at.Before(b.until))
}

// Until bounds by a time how long an answer to a question is waited for.
func (f *Factory) Until(at time.Time) {
	f.bounds.mu.Lock()
	defer f.bounds.mu.Unlock()
	f.bounds.until = at
}

// ErrLate is the end of a request by [Factory.Until].
var ErrLate = errors.New("the time that the command has is over")

// bound returns a request that ends with the command. answered is called once there is a
// header, done when nothing more is read.
func (b *bounds) bound(r *http.Request) (bounded *http.Request, answered, done func()) {
	b.mu.Lock()
	ends, until := b.ends, b.until
	b.mu.Unlock()
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := func() bool { return true }
	switch {
	case ends == nil:
	case ends.Err() == nil:
		stop = context.AfterFunc(ends, func() {
			if !reads {
				time.Sleep(lastWords)
			}
			cancel(context.Canceled)
		})
	default:
		last := lastWords
		if reads {
			last = lastAnswers
		}
		stop = time.AfterFunc(time.Until(b.signalled().Add(last)), func() { cancel(context.Canceled) }).Stop
	}
	answered = func() {}
	if reads && !until.IsZero() {
		timer := time.AfterFunc(max(time.Until(until), lateAnswer), func() { cancel(ErrLate) })
		answered = func() { timer.Stop() }
	}
	return r.WithContext(ctx), answered, func() {
		stop()
		cancel(nil)
	}
}

// ended is the error of a request that the command's end has ended.
func ended(r *http.Request, err error) error {
	switch cause := context.Cause(r.Context()); {
	case err == nil:
		return nil
	case errors.Is(cause, ErrLate):
		return fmt.Errorf("%w: %w", cause, context.DeadlineExceeded)
	case errors.Is(cause, context.Canceled):
		return context.Canceled
	}
	return err
}

// body is that of an answer; done is called once.
type body struct {
	io.ReadCloser

	once *sync.Once
	done func()
}

// Close closes it.
func (b body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.done)
	return err
}
