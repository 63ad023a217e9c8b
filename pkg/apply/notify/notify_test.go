package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

var web = event.Workload{Kind: "CloneSet", Namespace: "shop", Name: "web"}

// story is a rollout that waits once and is done.
func story() []event.Event {
	counts := &event.Counts{Desired: 4, Updated: 1}
	all := []event.Event{
		{Type: event.Opened, Step: -1, Plan: &event.Plan{Steps: make([]event.Step, 3)}, Counts: counts},
		{Type: event.StepBegun},
		{Type: event.Acted, Request: "patch cloneset shop/web"},
		{Type: event.Paused, Step: 1, Text: "waiting for approval"},
		{Type: event.Ended, Step: 2, Outcome: event.Completed, Counts: counts},
	}
	for i := range all {
		all[i].Workload, all[i].Time = web, time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
	}
	return all
}

// hooked is a web hook that answers as the test wants, and keeps what it received.
type hooked struct {
	*httptest.Server
	mu    sync.Mutex
	taken []string
	tries atomic.Int32
}

func newHook(t *testing.T, answer func(try int32, w http.ResponseWriter, r *http.Request) bool) *hooked {
	t.Helper()
	h := &hooked{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !answer(h.tries.Add(1), w, r) {
			return
		}
		if r.Header.Get(SignatureHeader) != Sign([]byte("s3cret"), body) {
			t.Errorf("the signature is %q", r.Header.Get(SignatureHeader))
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.taken = append(h.taken, string(body))
	}))
	t.Cleanup(h.Close)
	return h
}

func takes(int32, http.ResponseWriter, *http.Request) bool { return true }

// lines are those that were written, by any goroutine.
type lines struct {
	mu      sync.Mutex
	written []string
}

// Write takes a line.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, string(line))
	return len(line), nil
}

// told sends a story to web hooks, and returns what could not be delivered and how long the
// story itself took.
func told(t *testing.T, within time.Duration, client *http.Client, urls ...string) (warned []string, took time.Duration) {
	t.Helper()
	out := &lines{}
	n, err := New(Options{URLs: urls, Secret: []byte("s3cret"), Source: "urn:uuid:1", ID: "r1", Client: client, Wait: time.Millisecond, Warnings: out})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for _, e := range story() {
		n.Event(e)
	}
	took = time.Since(start)
	n.Close(within)
	return out.written, took
}

// TestNotifier_SendsStructuredCloudEvents: each notification is a CloudEvent in the structured mode, in order, and has
// the attributes that the specification requires.
func TestNotifier_SendsStructuredCloudEvents(t *testing.T) {
	h := newHook(t, func(_ int32, _ http.ResponseWriter, r *http.Request) bool {
		if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/cloudevents+json") {
			t.Errorf("Content-Type %s", got)
		}
		return true
	})
	if warned, _ := told(t, time.Minute, h.Client(), h.URL); warned != nil {
		t.Fatal(warned)
	}
	var got []map[string]any
	for _, text := range h.taken {
		var one map[string]any
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatal(err)
		}
		if id, _ := one["id"].(string); len(id) != 32 {
			t.Errorf("id %q", id)
		}
		delete(one, "id")
		got = append(got, one)
	}
	workload := map[string]any{"kind": "CloneSet", "namespace": "shop", "name": "web"}
	pods := map[string]any{"desired": 4.0, "total": 0.0, "ready": 0.0, "updated": 1.0, "updatedReady": 0.0}
	event := func(kind, at string, data map[string]any) map[string]any {
		data["workload"], data["steps"] = workload, 3.0
		return map[string]any{
			"specversion": "1.0", "source": "urn:uuid:1", "type": kind, "subject": "CloneSet/shop/web", "time": at, "datacontenttype": "application/json", "data": data,
		}
	}
	want := []map[string]any{
		event(Started, "2026-01-02T03:04:00Z", map[string]any{"pods": pods}),
		event(Waiting, "2026-01-02T03:04:03Z", map[string]any{"step": 2.0, "reason": "waiting for approval"}),
		event(Completed, "2026-01-02T03:04:04Z", map[string]any{"step": 3.0, "pods": pods}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNotifier_SameStateSameID: receivers can drop what they have received.
func TestNotifier_SameStateSameID(t *testing.T) {
	h := newHook(t, takes)
	told(t, time.Minute, h.Client(), h.URL)
	told(t, time.Minute, h.Client(), h.URL)
	if diff := cmp.Diff(h.taken[:3], h.taken[3:]); diff != "" {
		t.Error(diff)
	}
}

// TestNotifier_RetriesInOrder: a web hook that fails for a while receives all, in order; one that
// refuses is asked once; another one hears of it at once in any case.
func TestNotifier_RetriesInOrder(t *testing.T) {
	down := newHook(t, func(try int32, w http.ResponseWriter, _ *http.Request) bool {
		if try <= 3 {
			w.WriteHeader([]int{500, 503, 429}[try-1])
		}
		return try > 3
	})
	refuses := newHook(t, func(_ int32, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return false
	})
	leads := newHook(t, func(_ int32, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		return false
	})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	warned, _ := told(t, time.Minute, client, down.URL, refuses.URL, leads.URL)
	if len(down.taken) != 3 || !strings.Contains(down.taken[0], Started) || !strings.Contains(down.taken[2], Completed) {
		t.Errorf("%q", down.taken)
	}
	if len(warned) != 6 || refuses.tries.Load() != 3 || leads.tries.Load() != 3 {
		t.Errorf("%q, %d and %d attempts", warned, refuses.tries.Load(), leads.tries.Load())
	}
}

// TestNotifier_DoesNotDelayTheRollout: a web hook that never answers holds up neither the rollout nor, beyond
// the time that it is given, the end.
func TestNotifier_DoesNotDelayTheRollout(t *testing.T) {
	over := make(chan struct{})
	hangs := newHook(t, func(_ int32, _ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-over:
		case <-r.Context().Done():
		}
		return false
	})
	defer close(over)
	start := time.Now()
	warned, took := told(t, 50*time.Millisecond, hangs.Client(), hangs.URL+"/token-in-the-path")
	if len(warned) != 3 || strings.Contains(strings.Join(warned, ""), "token-in-the-path") {
		t.Errorf("%q", warned)
	}
	if took > 10*time.Second || time.Since(start) > 20*time.Second {
		t.Errorf("the rollout took %s, all of it %s", took, time.Since(start))
	}
}

// TestNotifier_DropsAndCountsOverflow: what there is no room for is dropped and reported.
func TestNotifier_DropsAndCountsOverflow(t *testing.T) {
	over := make(chan struct{})
	hangs := newHook(t, func(int32, http.ResponseWriter, *http.Request) bool { <-over; return true })
	dropped := &lines{}
	n, err := New(Options{URLs: []string{hangs.URL}, Secret: []byte("s3cret"), Client: hangs.Client(), Warnings: dropped})
	if err != nil {
		t.Fatal(err)
	}
	for range maxQueued + 10 {
		n.Event(event.Event{Type: event.Paused})
	}
	if got := len(dropped.written); got < 9 || got > 10 {
		t.Errorf("%d were dropped", got)
	}
	close(over)
	n.Close(time.Minute)
}

// TestNotifier_MasksSecrets: what looks secret in a reason is masked.
func TestNotifier_MasksSecrets(t *testing.T) {
	n := &Notifier{}
	body, ok := n.body(event.Event{Type: event.Ended, Outcome: event.Failed, Text: "https://bob:hunter2@db/ said: --password=hunter2"})
	if !ok || strings.Contains(string(body), "hunter2") {
		t.Errorf("%s", body)
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"https://hooks.example.com/a": "", "http://10.0.0.1:8080": "",
		"ftp://x": "it is no http or https address", "x": "it is no http or https address", "https:///a": "it is no http or https address",
		"https://bob:pw@hooks.example.com": "the address at hooks.example.com has a password in it, which others could read in the list of processes",
	} {
		got := ""
		if _, err := Check(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
