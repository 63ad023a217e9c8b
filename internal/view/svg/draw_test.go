package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const s = time.Second

// shop is a rollout of ten pods with a canary, a pause of ten minutes and the rest
// two by two.
func shop() Picture {
	t := simulate.Timeline{
		Samples: []simulate.Sample{{Old: 10, Wanted: 10}, {At: 6 * s, Old: 9, NewDown: 1, Wanted: 10}, {At: 9 * s, Old: 9, New: 1, Wanted: 10}},
		Steps: []simulate.StepMark{
			{Index: 0, Name: "pull", Title: "pull registry.example.com/web:2 on 4 nodes", End: 6 * s},
			{Index: 1, Name: "canary", Title: "1 of 10 pods, in place", Begin: 6 * s, End: 9 * s},
			{Index: 2, Name: "pause", Title: "wait 10m", Begin: 9 * s, End: 609 * s},
			{Index: 3, Name: "100%", Title: "the other 9 pods, in place, 2 at a time", Begin: 609 * s, End: 625 * s},
		},
		Summary: simulate.Summary{Duration: 625 * s, Outcome: simulate.Completed},
	}
	at, updated := 609*s, 1
	for updated < 10 {
		n := min(2, 10-updated)
		t.Samples = append(t.Samples,
			simulate.Sample{At: at, Old: 10 - updated - n, New: updated, NewDown: n, Wanted: 10},
			simulate.Sample{At: at + 3*s, Old: 10 - updated - n, New: updated + n, Wanted: 10})
		updated, at = updated+n, at+3*s+s/5
	}
	return Picture{
		Title: "cloneset/web: web:1 → web:2", Description: "10 pods in place in 10m25s; at most 2 down, never more than 10 pods.",
		Timeline: t, Least: 8,
	}
}

// surge is a rollout of four pods by recreation with one more than wanted, which
// stands in the middle.
func surge() Picture {
	return Picture{
		Title: `statefulset/db: "<&>"`, Description: "is blocked after 12s",
		Timeline: simulate.Timeline{
			Samples: []simulate.Sample{
				{Old: 4, Wanted: 4},
				{At: s, Old: 4, NewDown: 1, Wanted: 4},
				{At: 4 * s, Old: 4, New: 1, Wanted: 4},
				{At: 5 * s, Old: 3, OldDown: 0, New: 1, NewDown: 1, Wanted: 4},
				{At: 8 * s, Old: 3, New: 1, NewDown: 1, Wanted: 5},
			},
			Steps:   []simulate.StepMark{{Name: "update", End: -1}},
			Summary: simulate.Summary{Duration: 12 * s, Outcome: simulate.Blocked},
		},
		Least: -1,
	}
}

// large is a rollout of 2,000 pods in 100 steps with thousands of samples.
func large() Picture {
	t := simulate.Timeline{}
	const pods = 2000
	at := time.Duration(0)
	for step := range 100 {
		begin := at
		for i := range 20 {
			updated := step*20 + i
			t.Samples = append(t.Samples,
				simulate.Sample{At: at, Old: pods - updated - 1, New: updated, NewDown: 1, Wanted: pods},
				simulate.Sample{At: at + s, Old: pods - updated - 1, New: updated + 1, Wanted: pods})
			at += s + s/10
		}
		t.Steps = append(t.Steps, simulate.StepMark{Index: step, Name: fmt.Sprintf("%d%%", step+1), Title: "20 pods", Begin: begin, End: at})
	}
	t.Summary.Duration = at
	return Picture{Title: "cloneset/web", Description: "2000 pods", Timeline: t, Least: 1990}
}

func drawn(t *testing.T, p Picture) string {
	t.Helper()
	var b bytes.Buffer
	if err := Draw(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDraw holds the pictures against those in testdata; UPDATE=1 writes them
// again. Look at them when they change.
func TestDraw(t *testing.T) {
	for name, p := range map[string]Picture{"shop": shop(), "surge": surge(), "empty": {Least: -1}} {
		got, file := drawn(t, p), filepath.Join("testdata", name+".svg")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

var (
	coordinate = regexp.MustCompile(` (?:x|x1|x2)="([-\d.]+)"`)
	vertical   = regexp.MustCompile(` (?:y|y1|y2)="([-\d.]+)"`)
	height     = regexp.MustCompile(`<svg [^>]* height="(\d+)"`)
)

// TestPicture_IsWellFormedAndSelfContained: well-formed, inside their own frame, without scripts and
// without anything from elsewhere, at a bounded size.
func TestPicture_IsWellFormedAndSelfContained(t *testing.T) {
	for name, p := range map[string]Picture{"shop": shop(), "surge": surge(), "large": large(), "empty": {}} {
		text := drawn(t, p)
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, bad := range []string{"<script", "href", "@font-face", "url(", "NaN", "Inf", "%!"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %s", name, bad)
			}
		}
		bottom, _ := strconv.ParseFloat(height.FindStringSubmatch(text)[1], 64)
		outside(t, name, coordinate.FindAllStringSubmatch(text, -1), width)
		outside(t, name, vertical.FindAllStringSubmatch(text, -1), bottom)
		if len(text) > 100_000 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

func outside(t *testing.T, name string, found [][]string, most float64) {
	t.Helper()
	if len(found) == 0 {
		t.Errorf("%s: nothing is drawn", name)
	}
	for _, f := range found {
		if v, err := strconv.ParseFloat(f[1], 64); err != nil || v < 0 || v > most {
			t.Errorf("%s: %s lies outside (%g)", name, f[0], most)
		}
	}
}

// TestPicture_HasTitleAndDescription: a user who hears the picture gets its title and description, and
// both grounds have their colours.
func TestPicture_HasTitleAndDescription(t *testing.T) {
	text := drawn(t, surge())
	for _, want := range []string{
		`role="img"`, `aria-labelledby="kk-title kk-desc"`, `<title id="kk-title">statefulset/db: &#34;&lt;&amp;&gt;&#34;</title>`,
		`<desc id="kk-desc">is blocked after 12s</desc>`, "prefers-color-scheme: dark", "not finished",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "never fewer") {
		t.Error("a line for a budget that there is none of")
	}
}

// TestPicture_EveryClassHasAColour: a class without attributes would be black on black
// for readers without style sheets.
func TestPicture_EveryClassHasAColour(t *testing.T) {
	for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(drawn(t, shop()), -1) {
		for class := range strings.FieldsSeq(m[1]) {
			if light[class] == "" {
				t.Errorf("class %s has no attributes", class)
			}
		}
	}
}

// TestPicture_OfManyStepsIsReadable: a hundred steps do not drown the picture.
func TestPicture_OfManyStepsIsReadable(t *testing.T) {
	text := drawn(t, large())
	if !strings.Contains(text, "and 89 more steps") {
		t.Error("the table names every step")
	}
	if n := strings.Count(text, "<text"); n > 80 {
		t.Errorf("%d texts", n)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 50 * time.Millisecond: "0.1s", 1500 * time.Millisecond: "1.5s", 2 * s: "2s", 9990 * time.Millisecond: "10s", 12400 * time.Millisecond: "12s",
		60 * s: "1m", 90 * s: "1m30s", 3599*s + 600*time.Millisecond: "1h", 3600 * s: "1h", 7500 * s: "2h5m", 49 * time.Hour: "49h",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
