package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// TestWhy: strangers among the sidecars are cut, what is blocked is marked, and a log
// that cannot be read says so.
func TestWhy(t *testing.T) {
	d := Diagnosed{Diagnosis: diagnose.Diagnosis{
		About: "pod web-1", Answer: "on an old revision: it is paused",
		Causes: []diagnose.Cause{{Gate: "paused", Why: "it is paused", Hint: "resume", Blocked: true}, {Gate: "ready", Pods: []string{"a", "b", "c", "d", "e"}, Why: "is not ready"}},
	}, Logs: []LogTail{{Pod: "web-1", Container: "main", Lines: []string{"one", ""}}, {Pod: "web-2", Container: "main", Error: "forbidden"}}}
	d.Sidecars = []diagnose.Sidecar{{Set: "mesh", Injected: true, Why: "injected", Causes: []diagnose.Cause{{Gate: "turn", Why: "soon"}}}}
	for i := range 7 {
		d.Sidecars = append(d.Sidecars, diagnose.Sidecar{Set: fmt.Sprintf("s%d", i), Why: "its selector does not match"})
	}
	want := `pod web-1  on an old revision: it is paused
blocked by:
  ! paused: it is paused
      hint: resume
  - ready: a, b, c and 2 more: is not ready
the last lines of container main in web-1, in its own words:
  | one
  |
the log of container main in web-2 cannot be read: forbidden
sidecars:
  mesh: injected
  - turn: soon
  s0: not in the pod: its selector does not match
  s1: not in the pod: its selector does not match
  s2: not in the pod: its selector does not match
  s3: not in the pod: its selector does not match
  s4: not in the pod: its selector does not match
  and 2 more that do not match
`
	var b bytes.Buffer
	if err := Why(&b, d, Style{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Why(text.Writer(&b), d, Style{Color: true}); err != nil || !strings.Contains(b.String(), "\x1b[31m! paused") {
		t.Errorf("%v: %q", err, b.String())
	}
}
