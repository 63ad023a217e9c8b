package diagnose_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

func TestMain(m *testing.M) { hermetic.Main(m) }

func TestErrorLike_FindsErrorLines(t *testing.T) {
	for line, want := range map[string]bool{
		"2026-03-01T12:00:00Z ERROR cannot read the key":       true,
		`{"level":"error","msg":"x"}`:                          true,
		"level=err msg=x":                                      true,
		"E0301 12:00:00.000000 1 main.go:1] x":                 true,
		"panic: runtime error: index out of range":             true,
		"java.lang.IllegalStateException: x":                   false, // no word of its own
		"Exception in thread main":                             true,
		"GET /errors/12 200":                                   false,
		"INFO 0 errors, 12 items":                              false,
		"done err=nil":                                         false,
		`{"level":"info","error":null}`:                        false,
		"info error: \"\" done":                                false,
		"terror":                                               false,
		"INFO GET /items 200":                                  false,
		"err=timeout after " + strings.Repeat("x", 1<<20):      true,
		strings.Repeat("x", 1<<20) + " error beyond the bound": false,
	} {
		if got := diagnose.ErrorLike(line); got != want {
			t.Errorf("%.60s: %v", line, got)
		}
	}
}

// TestLogs_RateIsPerPodAndMinute: the rate is of a pod and a minute, however many containers it has.
func TestLogs_RateIsPerPodAndMinute(t *testing.T) {
	var l diagnose.Logs
	l.Add("ERROR one\nINFO two\n\nERROR three\n", 2*time.Minute, true)
	l.Add("ERROR four\n", 2*time.Minute, false)
	l.Add("INFO\n", 4*time.Minute, true)
	want := diagnose.Logs{Pods: 2, Lines: 5, Errors: 3, Minutes: 6, PerMinute: 0.5}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Error(diff)
	}
}

// TestRows_CompareBothSides: both revisions are compared in rows, and what could not be read is
// named.
func TestRows_CompareBothSides(t *testing.T) {
	c := diagnose.Comparison{
		New:     diagnose.Side{Pods: 2, Ready: 1, Restarts: 7, Restarted: 1, Ends: []diagnose.End{{How: "OOMKilled, exit code 137", Count: 2}}, Logs: &diagnose.Logs{Pods: 1, Lines: 10, Errors: 4, PerMinute: 2}},
		Old:     diagnose.Side{Pods: 8, Ready: 8},
		Checks:  []diagnose.Check{{Step: "verify-1", Query: "up", Answer: "0.02 is not < 0.01"}},
		Skipped: []diagnose.Skipped{{Part: "logs of old pods", Why: "forbidden"}},
	}
	want := []diagnose.Row{
		{What: "pods ready", New: "1 of 2", Old: "8 of 8"},
		{What: "restarts", New: "7 in 1 pod", Old: "0"},
		{What: "last terminations", New: "OOMKilled, exit code 137 x2", Old: "none"},
		{What: "error lines/min", New: "2.0 in 1 pod", Old: "not read"},
	}
	if diff := cmp.Diff(want, c.Rows()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"query verify-1 fails: 0.02 is not < 0.01 (up)", "logs of old pods skipped: forbidden"}, c.Notes()); diff != "" {
		t.Error(diff)
	}
}

func TestAwaitsApproval_OnlyAtItsPause(t *testing.T) {
	promote := diagnose.Diagnosis{Causes: []diagnose.Cause{{Gate: plan.GateReady}, {Gate: plan.GatePromote}}}
	if !diagnose.AwaitsApproval(promote) || diagnose.AwaitsApproval(diagnose.Diagnosis{}) {
		t.Error("it does not tell a pause from none")
	}
}
