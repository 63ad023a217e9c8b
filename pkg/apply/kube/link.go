package kube

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Link is how the connection to the server is.
type Link struct {
	// Lost is why no more changes arrive; empty while the connection works.
	Lost string
	// Since is from when on changes may be missing.
	Since time.Time
}

// connectionWatch notes how lists and watches end: the last one counts.
type connectionWatch struct {
	changes *changeSignal

	mu  sync.Mutex
	now Link
}

// linkMonitor reports the results of lists and watches.
type linkMonitor struct {
	cache.ListerWatcherWithContext
	link *connectionWatch
}

// ListWithContext lists.
func (m linkMonitor) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	answered := m.link.expectAnswer(ctx, silenceLimit, 0)
	out, err := m.ListerWatcherWithContext.ListWithContext(ctx, o)
	answered()
	m.link.note(ctx, err)
	return out, err
}

// WatchWithContext begins a watch.
func (m linkMonitor) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	answered := m.link.expectAnswer(ctx, watchSilence, unnoticed)
	out, err := m.ListerWatcherWithContext.WatchWithContext(ctx, o)
	answered()
	if reflect.TypeOf(out) == emptyWatchType {
		m.link.note(ctx, errNoAnswer)
		return out, err
	}
	m.link.note(ctx, err)
	return out, err
}

// monitor reports the results of a source's lists and watches.
func (l *connectionWatch) monitor(s source) source {
	s.client = linkMonitor{s.client, l}
	return s
}

// emptyWatchType is the type of the watch that a client returns, without an error, where the
// connection ends before there is an answer.
var (
	emptyWatchType = reflect.TypeOf(watch.NewEmptyWatch())
	errNoAnswer    = fmt.Errorf("the connection ends before there is an answer: %w", io.ErrUnexpectedEOF)
)

// After silenceLimit without an answer to a list the connection counts as lost: one that drops all packets ends only
// after minutes. The answer to a watch begins at once, so watchSilence is shorter; such a watch comes after one that
// ended, and a server that hangs ends it when it was silent for as long as unnoticed.
const (
	silenceLimit = 20 * time.Second
	watchSilence = 5 * time.Second
	unnoticed    = 10 * time.Second
)

// expectAnswer notes that there is no answer within a limit, and that changes may be missing from some time before the
// question on; what it returns ends that.
func (l *connectionWatch) expectAnswer(ctx context.Context, limit, before time.Duration) (answered func()) {
	since, told := time.Now().Add(-before), make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		defer close(told)
		l.noteSince(ctx, fmt.Errorf("no answer since %s: %w", since.Format(time.TimeOnly), context.DeadlineExceeded), since)
	})
	return func() {
		if !timer.Stop() {
			<-told // the answer is noted after it
		}
	}
}

// note takes an answer into account. A refusal is an answer, too, unless it is to all that
// is asked: a user that is not known any more gets no data.
func (l *connectionWatch) note(ctx context.Context, err error) { l.noteSince(ctx, err, time.Now()) }

func (l *connectionWatch) noteSince(ctx context.Context, err error, since time.Time) {
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	why := ""
	switch {
	case apierrors.IsUnauthorized(err):
		why = "the server refuses the credentials: log in again"
	case err != nil:
		why = strings.TrimSuffix(err.Error(), ": "+context.DeadlineExceeded.Error())
	}
	switch was := l.now.Lost; {
	case err == nil || !isTemporary(err) && !apierrors.IsUnauthorized(err):
		if l.now = (Link{}); was != "" {
			l.changes.broadcast()
		}
	case was == "":
		l.now = Link{Lost: why, Since: since}
		l.changes.broadcast()
	default:
		l.now.Lost = why
	}
}

func (l *connectionWatch) status() Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}
