package factory

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// locked is a stream that the watcher and the verb write to.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func held(tty bool, progress string) (*Factory, *locked, *locked) {
	var out, errs locked
	f := New(Streams{Out: &out, Err: &errs, ErrTTY: tty, ErrWidth: 40})
	f.Progress = progress
	return f, &out, &errs
}

// TestWorking: on a terminal a line reports what is being done after two seconds of silence, and is
// gone before anything else is written, and at the end.
func TestWorking(t *testing.T) {
	f, out, errs := held(true, "auto")
	work := f.Working("rendering %d objects", 20000)
	w := f.working
	w.beat(w.began.Add(time.Second))
	if errs.String() != "" {
		t.Errorf("after one second: %q", errs)
	}
	w.beat(w.began.Add(3 * time.Second))
	if got := errs.String(); !strings.Contains(got, "rendering 20000 objects: 3s") {
		t.Errorf("after three seconds: %q", got)
	}
	if _, err := fmt.Fprintln(f.Streams.Out, "kind: Deployment"); err != nil {
		t.Fatal(err)
	}
	if got := errs.String(); !strings.HasSuffix(got, " \r") || out.String() != "kind: Deployment\n" {
		t.Errorf("the line stays: %q, %q", got, out)
	}
	w.beat(time.Now().Add(time.Second))
	before := errs.String()
	if !strings.HasSuffix(before, " \r") {
		t.Errorf("the line is back at once: %q", before)
	}
	w.beat(time.Now().Add(5 * time.Second))
	work.Stop()
	if got := errs.String(); got == before || !strings.HasSuffix(got, " \r") || f.working != nil || f.Streams.Out != out {
		t.Errorf("at the end: %q", got)
	}
}

// TestWorking_IsSilentInAPipe: no line goes into a pipe unless that is asked for, and no escape ever.
func TestWorking_IsSilentInAPipe(t *testing.T) {
	f, _, errs := held(false, "auto")
	f.Working("rendering").Stop()
	if f.working != nil || errs.String() != "" {
		t.Errorf("%q", errs)
	}
	f, _, errs = held(true, "never")
	defer f.Working("rendering").Stop()
	if f.working != nil || errs.String() != "" {
		t.Error("never is sometimes")
	}
	f, _, errs = held(false, "always")
	work := f.Working("rendering")
	w := f.working
	for s := range 35 {
		w.beat(w.began.Add(time.Duration(s) * time.Second))
	}
	work.Stop()
	if got := errs.String(); got != "rendering: 10s\nrendering: 20s\nrendering: 30s\n" {
		t.Errorf("%q", got)
	}
}

// TestWorking_NamesAPartOfTheWork: a part of the work has words of its own, and a line is never wider
// than the terminal, nor does it hold what a terminal would obey.
func TestWorking_NamesAPartOfTheWork(t *testing.T) {
	f, _, errs := held(true, "auto")
	work := f.Working("outer")
	inner := f.Working("inner %s", strings.Repeat("x", 100)+"\x1b[2J")
	w := f.working
	w.beat(w.began.Add(3 * time.Second))
	got := errs.String()
	if !strings.Contains(got, "inner") || len([]rune(got)) > 4+40 || strings.Contains(got, "[2J") {
		t.Errorf("%q", got)
	}
	inner.Stop()
	w.beat(w.began.Add(4 * time.Second))
	if got := errs.String(); !strings.Contains(got, "outer: 4s") {
		t.Errorf("%q", got)
	}
	work.Stop()
}

func TestCheckProgress(t *testing.T) {
	for value, ok := range map[string]bool{"auto": true, "always": true, "never": true, "": false, "o": false, "auto always": false} {
		if err := CheckProgress(value); (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// TestWorking_Counts: a line says of how many things how many are done, and never fewer than before.
func TestWorking_Counts(t *testing.T) {
	f, _, errs := held(true, "auto")
	f.Streams.ErrWidth = 80
	work := f.Working("rendering").Of(3334, "object")
	defer work.Stop()
	w := work.line
	shows := func(want string) {
		t.Helper()
		before := len(errs.String())
		w.beat(w.began.Add(3 * time.Second))
		if got := errs.String()[before:]; !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	shows(" rendering 0 of 3,334 objects: 3s")
	work.Done(1200)
	shows(" rendering 1,200 of 3,334 objects: 3s")
	work.Progress().Within(0, .5)(.5)
	shows(" rendering 1,200 of 3,334 objects: 3s")
	work.Progress().Within(.5, 1)(.5)
	shows(" rendering 2,500 of 3,334 objects: 3s")
	loading := f.Working("loading manifests")
	shows(" loading manifests: 3s")
	resource.ProgressOf(loading.Reported(t.Context())).Of(1, 3)
	shows(" loading manifests, 33%: 3s")
	loading.Stop()
	shows(" rendering 2,500 of 3,334 objects: 3s")
	planning := f.Working("planning").Of(2, "workload")
	planning.Each(1, 2)(0)
	shows(" planning 1 of 2 workloads: 3s")
	planning.Done(7)
	shows(" planning 2 of 2 workloads: 3s")
}

// TestWorking_OfNothing: where nothing is shown, nothing is counted, and a terminal that is drawn on otherwise has
// no line.
func TestWorking_OfNothing(t *testing.T) {
	f, _, errs := held(false, "auto")
	work := f.Working("rendering").Of(2, "object")
	work.Done(1)
	work.Part(1)
	if work.Progress() != nil || work.Each(0, 2) != nil || work.Reported(t.Context()) != t.Context() {
		t.Error("work is reported that nothing shows")
	}
	work.Stop()
	f, _, _ = held(true, "auto")
	f.Silent = true
	f.Working("rendering").Stop()
	if f.Working("rendering").line != nil || errs.String() != "" {
		t.Error("a line is drawn over the terminal interface")
	}
}

// TestWorking_LeavesQuestionsAlone: nothing is drawn while a person is asked.
func TestWorking_LeavesQuestionsAlone(t *testing.T) {
	f, _, errs := held(true, "auto")
	f.Hold()() // of no work
	work := f.Working("planning")
	defer work.Stop()
	w := work.line
	w.beat(time.Now().Add(3 * time.Second))
	release := f.Hold()
	_, _ = fmt.Fprint(f.Streams.Err, "Sure? ")
	before := errs.String()
	w.beat(time.Now().Add(time.Minute))
	if got := errs.String(); got != before || !strings.HasSuffix(got, " \rSure? ") {
		t.Errorf("%q", got)
	}
	release()
	w.beat(time.Now().Add(time.Second))
	if errs.String() != before {
		t.Error("the line is back at once")
	}
	w.beat(time.Now().Add(3 * time.Second))
	if errs.String() == before {
		t.Error("the line does not come back")
	}
}

// TestWorking_OnATerminalThatCannotBeDrawnOn: TERM=dumb has no line.
func TestWorking_OnATerminalThatCannotBeDrawnOn(t *testing.T) {
	f, _, _ := held(true, "auto")
	f.Streams.Environ = []string{"TERM=dumb"}
	work := f.Working("rendering")
	defer work.Stop()
	if work.line != nil {
		t.Error("a dumb terminal is drawn on")
	}
}
