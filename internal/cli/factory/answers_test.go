package factory

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestAnswers_OfABrokenServerEnd: answers without end, in size, in time and in pages, are errors; a
// watch and a log are not bounded.
func TestAnswers_OfABrokenServerEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := func() { w.(http.Flusher).Flush() }
		switch {
		case strings.HasSuffix(r.URL.Path, "/log"), r.URL.Query().Get("watch") == "true":
			fmt.Fprint(w, strings.Repeat("x", 3<<20))
		case strings.Contains(r.URL.Path, "/slow/"):
			fmt.Fprint(w, `{"items":[`)
			flush()
			<-r.Context().Done()
		case strings.Contains(r.URL.Path, "/silent/"):
			<-r.Context().Done()
		case strings.Contains(r.URL.Path, "/endless/"):
			for r.Context().Err() == nil {
				fmt.Fprint(w, strings.Repeat(" ", 64<<10))
			}
		default:
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"more"},"items":[]}`)
		}
	}))
	defer server.Close()
	b := &answerBounds{bytes: 2 << 20, within: 2 * time.Second, pages: 5}
	cfg := &rest.Config{Host: server.URL, QPS: 1000, Burst: 1000}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &boundedTransport{next, b} })
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]string{"slow": "within 2s", "silent": "within 2s", "endless": "more than 2 MiB"} {
		if _, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", namespace, err, want)
		}
	}
	pages, next := 0, metav1.ListOptions{}
	for ; pages < 100; pages++ {
		list, err := client.CoreV1().Pods("pages").List(t.Context(), next)
		if err != nil {
			if !strings.Contains(err.Error(), "continues the list") {
				t.Error(err)
			}
			break
		}
		next.Continue = list.Continue
	}
	if pages != 6 {
		t.Errorf("%d pages were read", pages)
	}
	if _, err := client.CoreV1().Pods("pages").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the next list: %v", err)
	}
	for name, request := range map[string]*rest.Request{
		"a log":   client.CoreV1().Pods("x").GetLogs("web", &corev1.PodLogOptions{}),
		"a watch": client.CoreV1().RESTClient().Get().AbsPath("/api/v1/pods").Param("watch", "true"),
	} {
		body, err := request.Stream(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text, err := io.ReadAll(body); err != nil || len(text) != 3<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
		_ = body.Close()
	}
}

// TestAnswers_TellTheTimeOfTheServer: each answer, also one of a watch, says by how much this machine's clock is wrong.
func TestAnswers_TellTheTimeOfTheServer(t *testing.T) {
	var ahead time.Duration
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
	}))
	defer server.Close()
	transport := &boundedTransport{http.DefaultTransport, &answerBounds{bytes: 1, within: time.Minute, pages: 1}}
	if d := time.Until(transport.ServerTime()).Abs(); d > time.Minute {
		t.Errorf("before an answer the clock is wrong by %s", d)
	}
	for path, by := range map[string]time.Duration{"/api": 10 * time.Minute, "/api?watch=true": -10 * time.Minute} {
		ahead = by
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if d := (time.Until(transport.ServerTime()) - by).Abs(); d > time.Minute {
			t.Errorf("%s: the clock is wrong by %s", path, d)
		}
	}
}
