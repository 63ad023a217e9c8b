package factory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// patience is how long a request may take before a line says what is waited for.
const patience = 5 * time.Second

// slowServerNotice says on w when a server does not answer, or asks to be left alone for long.
// Without it, a command that waits looks like one that hangs.
type slowServerNotice struct {
	next http.RoundTripper
	mu   *sync.Mutex
	w    io.Writer
	// after is how long a request may take without a word.
	after time.Duration
	// most is how long a request may take with all its repetitions; 0 is for ever.
	most time.Duration
	// bounds end requests with the command; nil does not.
	bounds *bounds
}

// telling wraps the transport of a client whose requests may take so long, 0 for ever.
func (f *Factory) telling(most time.Duration) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		w := f.Streams.Err
		if f.Silent {
			w = io.Discard
		}
		return &slowServerNotice{next: next, mu: f.saying, w: w, after: patience, most: most, bounds: f.bounds}
	}
}

// RoundTrip sends a request on. What is reported ends with the header of the answer, so a watch
// that is open for hours is not waited for.
func (t *slowServerNotice) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	late := time.AfterFunc(t.after, func() {
		t.printNote("still waiting for the server to answer %s, since %s", named(r), begun.Format(time.TimeOnly))
	})
	asked := r
	answered, done := func() {}, func() {}
	if t.bounds != nil {
		r, answered, done = t.bounds.bound(r)
	}
	answer, err := t.next.RoundTrip(r)
	late.Stop()
	answered()
	if err != nil {
		err = endError(r, err)
		done()
		return answer, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols && answer.Body != nil {
		answer.Body = body{answer.Body, done}
	}
	t.postponed(asked, answer)
	return answer, nil
}

// WrappedRoundTripper is for libraries that look for the transport below.
func (t *slowServerNotice) WrappedRoundTripper() http.RoundTripper { return t.next }

// postponed reports an answer that has the client ask again only after long: client-go
// waits so without a word, and longer than the request may take. In that case the answer
// is one that is not asked again.
func (t *slowServerNotice) postponed(r *http.Request, answer *http.Response) {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	again := time.Duration(seconds) * time.Second
	if err == nil && (t.most > 0 && again > t.most || again >= t.after && t.bounds != nil && !t.bounds.mayWait(r, again)) {
		answer.Header.Del("Retry-After")
	}
	if err == nil && again >= t.after {
		t.printNote("the server asks to repeat %s after %s only (%d), at %s", named(r), again, answer.StatusCode, time.Now().Format(time.TimeOnly))
	}
}

// named is a request in a line, without its query, which may be long.
func named(r *http.Request) string { return fmt.Sprintf("%s %q", r.Method, r.URL.Host+r.URL.Path) }

func (t *slowServerNotice) printNote(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, format+"; --request-timeout bounds that\n", args...)
}

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

// mayWait reports whether a request may wait so long to be repeated: it has to end with the
// command.
func (b *bounds) mayWait(r *http.Request, again time.Duration) bool {
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

// Deadline is the time of [Factory.Until]; zero is never.
func (f *Factory) Deadline() time.Time {
	b := f.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until
}

// ErrLate is the end of a request by [Factory.Until].
var ErrLate = errors.New("the time that the command has is over")

// bound returns a request that ends with the command. answered is called once there is a
// header, done when nothing more is read.
func (b *bounds) bound(r *http.Request) (bounded *http.Request, answered func(), done context.CancelFunc) {
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

// endError is the error of a request that the command's end has ended.
func endError(r *http.Request, err error) error {
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

// body is that of an answer.
type body struct {
	io.ReadCloser
	done context.CancelFunc
}

// Close closes it.
func (b body) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}
