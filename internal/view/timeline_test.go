package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const sec = time.Second

// run is a rollout of four pods in two steps, the second of which does not end.
func run() simulate.Timeline {
	return simulate.Timeline{
		Steps: []simulate.StepMark{
			{Index: 0, Name: "canary", Title: "1 of 4 pods", End: 3 * sec},
			{Index: 1, Name: "all", Begin: 3 * sec, End: -1},
			{Index: 2, Name: "after", Begin: 60 * sec, End: -1},
		},
		Records: []simulate.Record{
			{At: sec / 10, Op: simulate.OpMarkNotReady, Pod: "web-a"},
			{At: sec / 10, Op: simulate.OpInPlace, Pod: "web-a", UID: "u1", Node: "n1", Revision: "web-2", Container: "main", From: "web-1", To: "web-2"},
			{At: 2 * sec, Op: simulate.OpReady, Pod: "web-a", Revision: "web-2"},
			{At: 3 * sec, Op: simulate.OpInPlace, Pod: "web-b"},
			{At: 3*sec + 20*time.Millisecond, Op: simulate.OpInPlace, Pod: "web-c"},
			{At: 3*sec + 40*time.Millisecond, Op: simulate.OpInPlace, Pod: "web-d"},
			{At: 5 * sec, Op: simulate.OpWaiting, Pod: "web-b", Container: "main", To: "ImagePullBackOff"},
			{At: 5 * sec, Op: simulate.OpWaiting, Pod: "web-b", Container: "main", To: "ImagePullBackOff"},
		},
		Samples: []simulate.Sample{
			{Old: 4, Wanted: 4},
			{At: sec / 10, Old: 3, NewDown: 1, Wanted: 4},
			{At: 2 * sec, Old: 3, New: 1, Wanted: 4},
			{At: 3 * sec, Old: 0, New: 1, NewDown: 2, Wanted: 4},
		},
		Summary: simulate.Summary{Outcome: simulate.Blocked, Reason: "web-b cannot pull", Duration: 65 * sec, MostDown: 3, MostPods: 4, Restarts: 1, Recreated: 1, Pulls: 2, Writes: 9},
	}
}

func TestTimeline(t *testing.T) {
	var b bytes.Buffer
	if err := Timeline(&b, run(), Style{}); err != nil {
		t.Fatal(err)
	}
	want := `      0s  step 1 canary: 1 of 4 pods
    0.1s  in place    web-a                                         3 old, 0 new, 1 unavailable
      2s  ready       web-a                                         3 old, 1 new
      3s  step 2 all
      3s  in place    web-b, web-c, web-d                           0 old, 1 new, 3 unavailable
      5s  cannot run  web-b (main ImagePullBackOff)                 0 old, 1 new, 3 unavailable
      1m  step 3 after
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTimeline_FitsTheTerminal: on a terminal no line is wider than it, pods are counted where
// they do not fit, and in full every op and every pod is shown.
func TestTimeline_FitsTheTerminal(t *testing.T) {
	many := run()
	for i := range 300 {
		many.Records = append(many.Records, simulate.Record{At: 70 * sec, Op: simulate.OpReady, Pod: fmt.Sprintf("web-%05d", i)})
	}
	for _, width := range []int{72, 100, 200} {
		var b bytes.Buffer
		if err := Timeline(&b, many, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, " more") && !strings.Contains(out, "300 pods") {
			t.Errorf("%d: pods are not counted:\n%s", width, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(line)) - 1; n > width {
				t.Errorf("%d columns, want %d: %s", n, width, line)
			}
		}
	}
	var full bytes.Buffer
	if err := Timeline(&full, many, Style{Full: true}); err != nil || !strings.Contains(full.String(), "web-00299") || !strings.Contains(full.String(), "gate shut") {
		t.Errorf("in full: %v\n%s", err, full.String())
	}
}

func TestPodList(t *testing.T) {
	names := []string{"web-a", "web-b", "web-c", "web-d"}
	for room, want := range map[int]string{100: "web-a, web-b, web-c, web-d", 24: "web-a, web-b and 2 more", 18: "web-a and 3 more", 10: "4 pods"} {
		if got := podList(names, room, false); got != want {
			t.Errorf("%d: %q, want %q", room, got, want)
		}
	}
	if got := podList(names, 10, true); got != "web-a, web-b, web-c, web-d" {
		t.Errorf("in full: %q", got)
	}
}

func TestTimelineTable(t *testing.T) {
	var b bytes.Buffer
	if err := TimelineTable(&b, run(), Style{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), b.String())
	}
	for i, want := range map[int]string{
		0: "TIME STEP WHAT POD NODE REVISION DETAIL", 1: "0.1s canary in-place web-a n1 web-2 -",
		7: "5s all cannot-run web-b - - main:ImagePullBackOff",
	} {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

func TestTimelineJSON(t *testing.T) {
	var b bytes.Buffer
	if err := TimelineJSON(&b, run()); err != nil {
		t.Fatal(err)
	}
	var types []string
	last := -1.0
	for line := range strings.Lines(b.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(line, err)
		}
		types = append(types, fmt.Sprint(v["type"]))
		if at, ok := v["at"].(float64); ok {
			if at < last {
				t.Errorf("time goes back at %s", line)
			}
			last = at
		}
	}
	if len(types) != 16 || types[0] != "step" || types[len(types)-1] != "summary" {
		t.Errorf("types %v", types)
	}
	for _, want := range []string{
		`{"type":"step","at":0,"index":0,"name":"canary","title":"1 of 4 pods","ended":3}`,
		`{"type":"step","at":3,"index":1,"name":"all"}`,
		`{"type":"pod","at":0.1,"op":"inPlaceUpdate","pod":"web-a","uid":"u1","node":"n1","revision":"web-2","container":"main","from":"web-1","to":"web-2"}`,
		`{"type":"state","at":3,"old":0,"new":1,"oldDown":0,"newDown":2,"wanted":4}`,
		`{"type":"summary","outcome":"blocked","reason":"web-b cannot pull","seconds":65,"mostDown":3,"mostPods":4,"restarts":1,"recreated":1,"deleted":0,"created":0,"pulls":2,"writes":9}`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no line %s in\n%s", want, b.String())
		}
	}
}

func TestOutcome(t *testing.T) {
	var b bytes.Buffer
	if err := Outcome(&b, run().Summary, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `is blocked after 1m5s
  reason        web-b cannot pull
  unavailable   at most 3 pods
  pods          at most 4 pods
  restarts      1 container in place, 1 pod recreated
  image pulls   2
  API writes    9
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for outcome, want := range map[simulate.Outcome]string{simulate.Completed: "completes in 2s", simulate.Waiting: "waits for approval after 2s", simulate.Failed: "fails after 2s"} {
		if got := OutcomeText(simulate.Summary{Outcome: outcome, Duration: 2 * sec}); got != want {
			t.Errorf("%s: %q", outcome, got)
		}
	}
}
