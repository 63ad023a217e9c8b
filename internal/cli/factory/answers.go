package factory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// An API server may be broken, or another one than was meant. What it answers is bounded: how large
// an answer is, how long it takes as a whole, and how often it continues a list. Watches, logs and
// streams into containers end when their user ends them.
const (
	maxAnswerBytes = 512 << 20
	maxAnswerTime  = 3 * time.Minute
	maxPages       = 2_000
)

// boundAnswers bounds the answers that clients of a config take.
func boundAnswers(cfg *rest.Config) {
	b := &answerBounds{bytes: maxAnswerBytes, within: maxAnswerTime, pages: maxPages}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &boundedTransport{next, b} })
}

// answerBounds are those of answers.
type answerBounds struct {
	bytes  int64
	within time.Duration
	pages  int

	// ahead is by how many nanoseconds the clock of the server is ahead of this machine's.
	ahead atomic.Int64

	mu sync.Mutex
	// continued counts the pages of the list that is read at a path.
	continued map[string]int
}

// boundedTransport is a transport whose answers are bounded.
type boundedTransport struct {
	next http.RoundTripper
	*answerBounds
}

// RoundTrip sends a request.
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if streams(r) {
		res, err := t.next.RoundTrip(r)
		t.noteTime(res)
		return res, err
	}
	if err := t.page(r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), t.within, fmt.Errorf("the server has not completed its answer within %s", t.within))
	res, err := t.next.RoundTrip(r.WithContext(ctx))
	t.noteTime(res)
	if err != nil {
		err = causeOf(ctx, err)
		cancel()
		return nil, err
	}
	res.Body = &boundedBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, left: t.bytes, most: t.bytes}
	return res, nil
}

// noteTime keeps what an answer says of the server's clock, to half a second.
func (t *boundedTransport) noteTime(res *http.Response) {
	if res == nil {
		return
	}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		t.ahead.Store(int64(time.Until(at.Add(time.Second / 2))))
	}
}

// ServerTime is the time by the clock of the server, as its last answer had it; that of this machine before.
func (t *boundedTransport) ServerTime() time.Time {
	return time.Now().Add(time.Duration(t.ahead.Load()))
}

// WrappedRoundTripper is what client-go looks for in a wrapper.
func (t *boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// streams reports whether an answer has no end of its own.
func streams(r *http.Request) bool {
	q := r.URL.Query()
	if q.Get("watch") == "true" || q.Get("watch") == "1" || q.Get("follow") != "" || r.Header.Get("Upgrade") != "" {
		return true
	}
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch last {
	case "log", "exec", "attach", "portforward":
		return true
	}
	return strings.Contains(r.URL.Path, "/watch/") || strings.Contains(r.URL.Path, "/proxy")
}

// page counts the pages of a list.
func (b *answerBounds) page(r *http.Request) error {
	if r.Method != http.MethodGet {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Query().Get("continue") == "" {
		delete(b.continued, r.URL.Path)
		return nil
	}
	if b.continued == nil {
		b.continued = map[string]int{}
	}
	if b.continued[r.URL.Path]++; b.continued[r.URL.Path] > b.pages {
		return fmt.Errorf("the server continues the list %s after %d pages: it is not read on", r.URL.Path, b.pages)
	}
	return nil
}

// causeOf is why a request ended: its context, if that has.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return cause
	}
	return err
}

// boundedBody is the body of an answer.
type boundedBody struct {
	io.ReadCloser

	ctx        context.Context //nolint:containedctx // a body is read after its request has returned
	cancel     context.CancelFunc
	left, most int64
}

// Read reads no more than the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer of the server has more than %d MiB: it is not read on", b.most>>20)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = causeOf(b.ctx, err)
	}
	return n, err
}

// Close ends the request.
func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
