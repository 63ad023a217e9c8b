package factory

import (
	"context"
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
		return &waiting{next: next, mu: &sync.Mutex{}, w: out, after: 50 * time.Millisecond, most: timeout}
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
