package factory

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// heard is a writer that several goroutines may write to.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// ask has a client of client-go ask a server for pods, with a timeout for the request.
func ask(t *testing.T, server http.HandlerFunc, timeout time.Duration) (said string, took time.Duration, err error) {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	out := &heard{}
	cfg := &rest.Config{Host: s.URL, Timeout: timeout}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &slowServerNotice{next: next, mu: &sync.Mutex{}, w: out, after: 50 * time.Millisecond, most: timeout}
	})
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err = client.CoreV1().Pods("shop").List(context.Background(), metav1.ListOptions{})
	return out.String(), time.Since(begin), err
}

func TestWaiting_SaysWhatIsWaitedForAndSinceWhen(t *testing.T) {
	done := make(chan bool)
	t.Cleanup(func() { close(done) })
	said, took, err := ask(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}, time.Second)
	if err == nil || !strings.Contains(said, "still waiting for the server to answer GET ") || !strings.Contains(said, "/api/v1/namespaces/shop/pods") || !strings.Contains(said, "since ") {
		t.Errorf("%v, said %q", err, said)
	}
	if took > 5*time.Second {
		t.Errorf("the request took %s, and may take a second", took)
	}
}

func TestWaiting_SaysThatTheServerPostpones(t *testing.T) {
	said, took, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}, time.Second)
	if err == nil || !strings.Contains(said, "after 1h0m0s only (429)") {
		t.Errorf("%v, said %q", err, said)
	}
	if took > 5*time.Second {
		t.Errorf("the request took %s, and may take a second", took)
	}
}

func TestWaiting_IsSilentWhereTheServerAnswers(t *testing.T) {
	said, _, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind": "PodList", "apiVersion": "v1", "items": []}`))
	}, 0)
	if err != nil || said != "" {
		t.Errorf("%v, said %q", err, said)
	}
}

// requested sends a GET through the transport of a factory, and returns how it ended.
func requested(t *testing.T, f *Factory, server http.HandlerFunc) (took time.Duration, err error) {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	client := &http.Client{Transport: f.telling(0)(http.DefaultTransport)}
	begin := time.Now()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(req)
	if err == nil {
		_, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
	}
	return time.Since(begin), err
}

// silent is a server that takes a request and does not answer; late one that stops in the
// middle of the answer.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func late(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// forever is longer than any request may take here: those servers never answer.
const forever = 30 * time.Second

// TestRequests_EndWithTheCommand: a request whose context never ends does so with the command, before the answer
// and in the middle of it, and one that is begun afterwards, too.
func TestRequests_EndWithTheCommand(t *testing.T) {
	for name, server := range map[string]http.HandlerFunc{"silent": silent, "late": late} {
		f := New(Streams{Err: &heard{}})
		ctx, signal := context.WithCancel(t.Context())
		f.EndWith(ctx)
		time.AfterFunc(50*time.Millisecond, signal)
		if took, err := requested(t, f, server); !errors.Is(err, context.Canceled) || took > forever {
			t.Errorf("%s: %v after %s", name, err, took)
		}
		if took, err := requested(t, f, server); !errors.Is(err, context.Canceled) || took > forever {
			t.Errorf("%s, after the signal: %v after %s", name, err, took)
		}
	}
	f := New(Streams{Err: &heard{}})
	f.Until(time.Now().Add(50 * time.Millisecond))
	for range 2 {
		if took, err := requested(t, f, silent); !errors.Is(err, ErrLate) || took > forever {
			t.Errorf("%v after %s", err, took)
		}
	}
	f.Until(time.Time{})
	answers := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	if _, err := requested(t, f, answers); err != nil {
		t.Error(err)
	}
}

// TestBounds_CapPostponements: nothing waits for an hour that no signal and no time could end.
func TestBounds_CapPostponements(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		until time.Time
		ctx   func() (context.Context, context.CancelFunc)
		kept  bool
	}{
		"by a signal":      {time.Time{}, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, true},
		"by nothing":       {time.Time{}, func() (context.Context, context.CancelFunc) { return context.Background(), func() {} }, false},
		"by a deadline":    {time.Time{}, func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Minute) }, false},
		"within --timeout": {time.Now().Add(time.Minute), func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, false},
	} {
		f := New(Streams{Err: &heard{}})
		f.Until(c.until)
		ctx, cancel := c.ctx()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := f.telling(0)(http.DefaultTransport).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		cancel()
		if kept := answer.Header.Get("Retry-After") != ""; kept != c.kept {
			t.Errorf("%s: waits %t", name, kept)
		}
	}
}
