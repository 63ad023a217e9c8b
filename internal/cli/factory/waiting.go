package factory

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// patience is how long a request may take before a line says what is waited for.
const patience = 5 * time.Second

// waiting says on w when a server does not answer, or asks to be left alone for long.
// Without it, a command that waits looks like one that hangs.
type waiting struct {
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
		return &waiting{next: next, mu: f.saying, w: w, after: patience, most: most, bounds: f.bounds}
	}
}

// RoundTrip sends a request on. What is told ends with the header of the answer, so a watch
// that is open for hours is not waited for.
func (t *waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	late := time.AfterFunc(t.after, func() {
		t.say("still waiting for the server to answer %s, since %s", named(r), begun.Format(time.TimeOnly))
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
		err = ended(r, err)
		done()
		return answer, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols && answer.Body != nil {
		answer.Body = body{answer.Body, &sync.Once{}, done}
	}
	t.postponed(asked, answer)
	return answer, nil
}

// WrappedRoundTripper is for libraries that look for the transport below.
func (t *waiting) WrappedRoundTripper() http.RoundTripper { return t.next }

// postponed tells of an answer that has the client ask again only after long: client-go
// waits so without a word, and longer than the request may take. In that case the answer
// is one that is not asked again.
func (t *waiting) postponed(r *http.Request, answer *http.Response) {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	again := time.Duration(seconds) * time.Second
	if err == nil && (t.most > 0 && again > t.most || again >= t.after && t.bounds != nil && !t.bounds.waits(r, again)) {
		answer.Header.Del("Retry-After")
	}
	if err == nil && again >= t.after {
		t.say("the server asks to repeat %s after %s only (%d), at %s", named(r), again, answer.StatusCode, time.Now().Format(time.TimeOnly))
	}
}

// named is a request in a line, without its query, which may be long.
func named(r *http.Request) string { return fmt.Sprintf("%s %q", r.Method, r.URL.Host+r.URL.Path) }

func (t *waiting) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, format+"; --request-timeout bounds that\n", args...)
}
