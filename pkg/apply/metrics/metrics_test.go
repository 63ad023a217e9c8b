package metrics

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// drivenHalf is a rollout of two steps that is at a pause.
func drivenHalf() *Rollout {
	r := New()
	at := func(s int) time.Time { return time.Unix(1700000000+int64(s), 0) }
	for _, e := range []event.Event{
		{Type: event.Opened, Time: at(0), Step: -1, Plan: &event.Plan{Driver: "kruise", Steps: []event.Step{{Name: "step-1", Kind: "partition"}, {Name: `pause-"1"`, Kind: "pause"}}}, Counts: &event.Counts{Desired: 4}},
		{Type: event.StepBegun, Time: at(0), Step: 0, StepName: "step-1"},
		{Type: event.Acted, Time: at(1), Step: 0},
		{Type: event.Pods, Time: at(2), Counts: &event.Counts{Desired: 4, Total: 4, Ready: 3, Updated: 1, UpdatedReady: 1}},
		{Type: event.StepDone, Time: at(9), Step: 0, StepName: "step-1"},
		{Type: event.StepBegun, Time: at(9), Step: 1},
		{Type: event.Paused, Time: at(9), Step: 1},
		{Type: event.Pods, Time: at(10), Counts: &event.Counts{Desired: 4, Total: 4, Ready: 4, Updated: 1, UpdatedReady: 1}},
	} {
		e.Workload = event.Workload{Kind: "CloneSet", Namespace: "shop", Name: "web"}
		r.Event(e)
	}
	return r
}

const web = `{workload_kind="CloneSet",workload_namespace="shop",workload="web"`

func TestRollout_WritesExpositionFormat(t *testing.T) {
	r := drivenHalf()
	text := get(t, r, "/metrics", http.StatusOK)
	for _, want := range []string{
		"rollout_step" + web + "} 2\n", "rollout_steps" + web + "} 2\n", `rollout_step_duration_seconds` + web + `,step="step-1",kind="partition"} 9` + "\n",
		`rollout_pods` + web + `,state="ready"} 4` + "\n", "rollout_waits_for_person" + web + "} 1\n", "rollout_writes_total" + web + "} 1\n",
		"rollout_step_since_timestamp_seconds" + web + "} 1700000009\n", `outcome="completed"} 0` + "\n",
	} {
		if !strings.Contains(text, "\nkubectl_kruise_"+want) && !strings.Contains(text, want) {
			t.Errorf("it lacks %q\n%s", want, text)
		}
	}
	r.Event(event.Event{Type: event.Ended, Outcome: event.RolledBack, Workload: event.Workload{Kind: "CloneSet", Namespace: "shop", Name: "web"}})
	text = get(t, r, "/metrics", http.StatusOK)
	if !strings.Contains(text, `outcome="rolledBack"} 1`) || !strings.Contains(text, "waits_for_person"+web+"} 0") || !strings.HasSuffix(text, "# EOF\n") {
		t.Error(text)
	}
}

func TestRollout_ServesOnlyItsPaths(t *testing.T) {
	r := New()
	if got := get(t, r, "/healthz", http.StatusOK); got != "ok\n" {
		t.Errorf("%q", got)
	}
	if got := get(t, r, "/metrics", http.StatusOK); got != "# EOF\n" {
		t.Errorf("before the rollout there is nothing to show: %q", got)
	}
	get(t, r, "/debug/pprof/", http.StatusNotFound)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d", w.Code)
	}
}

func get(t *testing.T, r *Rollout, path string, status int) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != status {
		t.Errorf("%s: status %d", path, w.Code)
	}
	return w.Body.String()
}

// TestRules_MetricsExist: the alert rules ask for metrics that there are.
func TestRules_MetricsExist(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("..", "..", "..", "plugins", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := drivenHalf().text()
	names := regexp.MustCompile(`kubectl_kruise_\w+`).FindAllString(string(rules), -1)
	if len(names) < 3 {
		t.Errorf("%q", names)
	}
	for _, name := range names {
		if !strings.Contains(text, "\n"+name+"{") {
			t.Errorf("there is no %s", name)
		}
	}
}
