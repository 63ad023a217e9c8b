// Package metrics shows what a rollout reports as OpenMetrics, for one process that carries out one
// rollout. It knows events and no cluster.
package metrics

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// Rollout gathers the metrics of a rollout. It is safe for many goroutines.
type Rollout struct {
	mu       sync.Mutex
	workload event.Workload
	driver   string
	opened   time.Time
	steps    []event.Step
	// step is the index of the present step, -1 before the first; since is when it began.
	step    int
	since   time.Time
	took    map[string]time.Duration
	counts  event.Counts
	paused  bool
	back    bool
	writes  int
	refused int
	outcome event.Outcome
}

// New returns the metrics of a rollout that has not begun.
func New() *Rollout { return &Rollout{step: -1, took: map[string]time.Duration{}} }

// Event takes an event in.
func (r *Rollout) Event(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workload = e.Workload
	if e.Plan != nil {
		r.steps, r.driver = e.Plan.Steps, e.Plan.Driver
	}
	if e.Counts != nil {
		r.counts = *e.Counts
	}
	switch e.Type {
	case event.Opened:
		r.opened, r.since, r.step = e.Time, e.Time, e.Plan.At
		r.back = e.Text != ""
	case event.RollingBack:
		r.back, r.step, r.since = true, -1, e.Time
	case event.StepBegun:
		r.step, r.since = e.Step, e.Time
	case event.StepDone:
		r.took[e.StepName] = e.Time.Sub(r.since)
	case event.Acted:
		r.writes++
	case event.Refused:
		r.refused++
	case event.Ended:
		r.outcome = e.Outcome
	case event.Paused, event.Waiting, event.Pods, event.Halted, event.Note:
	}
	if e.Type != event.Pods && e.Type != event.Note {
		r.paused = e.Type == event.Paused
	}
}

// ServeHTTP serves /metrics and, while the process can answer, /healthz.
func (r *Rollout) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case req.URL.Path == "/healthz":
		_, _ = w.Write([]byte("ok\n"))
	case req.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = w.Write([]byte(r.text()))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// text is the exposition (OpenMetrics 1.0).
func (r *Rollout) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &exposition{labels: []string{"workload_kind", r.workload.Kind, "workload_namespace", r.workload.Namespace, "workload", r.workload.Name}}
	if !r.opened.IsZero() {
		r.add(x)
	}
	return x.text.String() + "# EOF\n"
}

// outcomes are all that the metric of the outcome has a line for.
var outcomes = []event.Outcome{event.Completed, event.Failed, event.RolledBack, event.AtPause, event.TimedOut, event.Interrupted, event.TakenOver}

func (r *Rollout) add(x *exposition) {
	x.family("rollout_info", "info", "", "The rollout that this process drives.")
	x.sample("rollout_info", 1, "driver", r.driver, "rolls_back", strconv.FormatBool(r.back))
	x.family("rollout_driven_since_timestamp_seconds", "gauge", "seconds", "When this process began to drive the rollout.")
	x.sample("rollout_driven_since_timestamp_seconds", unixSeconds(r.opened))
	x.family("rollout_steps", "gauge", "", "Steps of the plan.")
	x.sample("rollout_steps", float64(len(r.steps)))
	x.family("rollout_step", "gauge", "", "The present step, from 1; 0 before the first.")
	x.sample("rollout_step", float64(r.step+1))
	x.family("rollout_step_since_timestamp_seconds", "gauge", "seconds", "When the present step began, or was taken over.")
	x.sample("rollout_step_since_timestamp_seconds", unixSeconds(r.since))
	x.family("rollout_step_duration_seconds", "gauge", "seconds", "How long each step took that this process has carried out.")
	for _, s := range r.steps {
		if took, ok := r.took[s.Name]; ok {
			x.sample("rollout_step_duration_seconds", took.Seconds(), "step", s.Name, "kind", s.Kind)
		}
	}
	x.family("rollout_pods", "gauge", "", "Pods of the workload by state; updated_ready are ready with the new template.")
	for _, c := range []struct {
		state string
		n     int
	}{{"desired", r.counts.Desired}, {"total", r.counts.Total}, {"ready", r.counts.Ready}, {"updated", r.counts.Updated}, {"updated_ready", r.counts.UpdatedReady}} {
		x.sample("rollout_pods", float64(c.n), "state", c.state)
	}
	x.family("rollout_waits_for_person", "gauge", "", "1 while a person has to promote or resume.")
	x.sample("rollout_waits_for_person", boolValue(r.paused))
	x.family("rollout_writes", "counter", "", "Writes to the workload and its pods.")
	x.sample("rollout_writes_total", float64(r.writes))
	x.family("rollout_refused_writes", "counter", "", "Times that writes began to be refused.")
	x.sample("rollout_refused_writes_total", float64(r.refused))
	x.family("rollout_outcome", "gauge", "", "1 for how the rollout ended, 0 for all others.")
	for _, o := range outcomes {
		x.sample("rollout_outcome", boolValue(r.outcome == o), "outcome", string(o))
	}
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// exposition is a text that grows. labels are those of every sample.
type exposition struct {
	text   strings.Builder
	labels []string
}

// prefix is that of all metrics.
const prefix = "kubectl_kruise_"

func (x *exposition) family(name, kind, unit, help string) {
	// The name of an info has its suffix in the sample alone.
	name = prefix + strings.TrimSuffix(name, "_info")
	fmt.Fprintf(&x.text, "# TYPE %s %s\n", name, kind)
	if unit != "" {
		fmt.Fprintf(&x.text, "# UNIT %s %s\n", name, unit)
	}
	fmt.Fprintf(&x.text, "# HELP %s %s\n", name, help)
}

func (x *exposition) sample(name string, value float64, labels ...string) {
	all := slices.Concat(x.labels, labels)
	var pairs []string
	for i := 0; i+1 < len(all); i += 2 {
		pairs = append(pairs, all[i]+`="`+escape.Replace(all[i+1])+`"`)
	}
	fmt.Fprintf(&x.text, "%s%s{%s} %s\n", prefix, name, strings.Join(pairs, ","), strconv.FormatFloat(value, 'f', -1, 64))
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
