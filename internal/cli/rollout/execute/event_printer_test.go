package execute

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// driven is what a verb has at a terminal, or before a pipe.
func driven(out *bytes.Buffer, terminal bool, env []string) *Execution {
	s := factory.Streams{Out: out, Err: &bytes.Buffer{}, In: strings.NewReader(""), OutTTY: terminal, Environ: env}
	if terminal {
		s.Size = func() (int, int) { return 80, 24 }
	}
	return &Execution{Client: session.NewClient(factory.New(s)), Flags: Flags{Output: "text", SuccessOn: "complete"}}
}

// TestPrintNext_NamesCommands: a rollout that has ended before its last step ends with a
// command that can be copied, unless its output is for programs.
func TestPrintNext_NamesCommands(t *testing.T) {
	target := plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	for name, c := range map[string]struct {
		outcome event.Outcome
		reason  string
		output  string
		want    string
	}{
		"waits for approval": {event.AtPause, "promote: waiting for approval", "text", "hint: 'kubectl kruise rollout promote cloneset/web -n shop' approves and continues\n"},
		"paused by a user":   {event.AtPause, "held: by ann", "text", "hint: 'kubectl kruise rollout resume cloneset/web -n shop' continues\n"},
		"timed out":          {event.TimedOut, "", "text", "hint: 'kubectl kruise rollout resume cloneset/web -n shop' continues\n"},
		"failed": {
			event.Failed, "crash web-3: it crashed", "text",
			"hint: fix the cause, then 'kubectl kruise rollout retry cloneset/web -n shop'; to roll back: 'kubectl kruise rollout abort cloneset/web -n shop --rollback'\n",
		},
		"completed":    {event.Completed, "", "text", ""},
		"for programs": {event.Failed, "", "json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven(&bytes.Buffer{}, false, nil)
			d.Output = c.output
			d.PrintNext(&session.Session{}, apply.Result{Outcome: c.outcome, Reason: c.reason, Plan: plan.Plan{Target: target}})
			if diff := cmp.Diff(c.want, d.Factory.Streams.Err.(*bytes.Buffer).String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReporter_FitsTheOutput: a terminal gets a picture, a pipe and a terminal that cannot redraw get
// lines, and -o json prints JSON wherever it goes.
func TestReporter_FitsTheOutput(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		env      []string
		output   string
		want     string
	}{
		"terminal":      {true, nil, "text", "\x1b[K\n"},
		"pipe":          {false, nil, "text", " completed after 0s: 0 of 1 updated, 0 ready\n"},
		"dumb terminal": {true, []string{"TERM=dumb"}, "text", " completed after 0s: 0 of 1 updated, 0 ready\n"},
		"json":          {true, nil, "json", `"outcome":"completed"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := driven(&out, c.terminal, c.env)
			d.Output = c.output
			told := d.EventPrinter("")
			now := time.Now()
			told.Event(opened(now))
			told.Event(event.Event{Time: now, Type: event.Ended, Outcome: event.Completed, Counts: &event.Counts{Desired: 1, Total: 1}})
			told.Stop()
			if !strings.Contains(out.String(), c.want) || c.output == "json" && !json.Valid([]byte(strings.Split(out.String(), "\n")[0])) {
				t.Errorf("%q", out.String())
			}
			if n := strings.Count(out.String(), "\x1b"); n > 0 && c.want != "\x1b[K\n" {
				t.Errorf("%d escapes in %q", n, out.String())
			}
		})
	}
}

// TestReporter_NamesTheCommandThatApproves: a rollout that stays and waits for approval names the command, on a terminal as
// well as in a pipe; one that ends there has its hint.
func TestReporter_NamesTheCommandThatApproves(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		for _, ends := range []bool{true, false} {
			var out bytes.Buffer
			d := driven(&out, terminal, nil)
			const approve = "kubectl kruise rollout promote cloneset/web -n shop"
			d.Output, d.AtPause = "text", ends
			told := d.EventPrinter(approve)
			now := time.Now()
			told.Event(opened(now))
			told.Event(event.Event{Time: now, Type: event.Paused, Text: "promote: waiting for approval", Blockers: []event.Blocker{{Gate: plan.GatePromote, Why: "waiting for approval"}}})
			told.reader.Beat(now.Add(2 * time.Second))
			told.Stop()
			if got := strings.Contains(out.String(), approve); got == ends {
				t.Errorf("terminal %t, ends %t: %q", terminal, ends, out.String())
			}
		}
	}
}

// TestOutcome_HasItsExitCode: each outcome has its error, and with it its exit code.
func TestOutcome_HasItsExitCode(t *testing.T) {
	for _, c := range []struct {
		outcome event.Outcome
		success string
		want    error
	}{
		{event.Completed, "complete", nil},
		{event.AtPause, "complete", command.ErrPaused},
		{event.AtPause, "paused", nil},
		{event.TimedOut, "complete", command.ErrTimedOut},
		{event.Interrupted, "complete", command.ErrInterrupted},
		{event.TakenOver, "complete", plan.ErrOtherExecutor},
		{event.Failed, "complete", command.ErrFailed},
		{event.RolledBack, "paused", command.ErrFailed},
	} {
		d := &Flags{SuccessOn: c.success}
		if err := d.Ending(apply.Result{Outcome: c.outcome}); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s, success on %s: %v, want %v", c.outcome, c.success, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		d       Flags
		atPause bool
		want    string
	}{
		{Flags{Output: "text", SuccessOn: "complete"}, false, ""},
		{Flags{Output: "json", SuccessOn: "paused", Timeout: time.Minute}, true, ""},
		{Flags{Output: "yaml", SuccessOn: "complete"}, false, `--output: unknown value "yaml"`},
		{Flags{Output: "text", SuccessOn: "failed"}, false, `--success-on: unknown value "failed"`},
		{Flags{Output: "text", SuccessOn: "complete", Timeout: -1}, false, "--timeout: -1ns is in the past"},
	} {
		err := c.d.Check()
		if got := textIn(err); got != c.want || c.d.AtPause != c.atPause {
			t.Errorf("%q at a pause %v, want %q", got, c.d.AtPause, c.want)
		}
	}
}

func textIn(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDeadline_IsNoneWithoutATimeout: without a timeout a rollout has no end.
func TestDeadline_IsNoneWithoutATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := (&Execution{}).Until(); !got.IsZero() {
			t.Errorf("without a timeout: %s, want none", got)
		}
		if got, want := (&Execution{Flags: Flags{Timeout: time.Hour}}).Until(), time.Now().Add(time.Hour); !got.Equal(want) {
			t.Errorf("with an hour: %s, want %s", got, want)
		}
	})
}

// terminal is as much of one as a screen needs: it moves its cursor up, and clears.
type terminal struct {
	rows [][]rune
	y, x int
}

func (m *terminal) Write(b []byte) (int, error) {
	text := []rune(string(b))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\n':
			m.y, m.x = m.y+1, 0
		case '\r':
			m.x = 0
		case '\x1b':
			end := i + 2
			for text[end] >= '0' && text[end] <= '9' {
				end++
			}
			m.escape(text[end], string(text[i+2:end]))
			i = end
		default:
			m.put(r)
		}
	}
	return len(b), nil
}

func (m *terminal) put(r rune) {
	for len(m.rows) <= m.y {
		m.rows = append(m.rows, nil)
	}
	row := m.rows[m.y]
	for len(row) <= m.x {
		row = append(row, ' ')
	}
	row[m.x] = r
	m.rows[m.y] = row
	m.x++
}

func (m *terminal) escape(what rune, n string) {
	switch what {
	case 'A':
		up, _ := strconv.Atoi(n)
		m.y -= up
	case 'K':
		if m.y < len(m.rows) {
			m.rows[m.y] = m.rows[m.y][:min(m.x, len(m.rows[m.y]))]
		}
	case 'J':
		m.rows = m.rows[:min(m.y, len(m.rows))]
	}
}

func (m *terminal) String() string {
	var out []string
	for _, r := range m.rows {
		out = append(out, strings.TrimRight(string(r), " "))
	}
	return strings.Join(out, "\n")
}

// TestScreen_ReplacesThePictureBefore: each picture takes the place of the one before, whatever its size, and
// what was printed above stays.
func TestScreen_ReplacesThePictureBefore(t *testing.T) {
	m := &terminal{}
	_, _ = m.Write([]byte("plan\n"))
	s := &screen{out: m}
	for _, lines := range [][]string{{"one"}, {"a longer line", "two"}, {"x", "y", "z"}, {"short"}, {}, {"end", "of it"}} {
		s.show(lines, 80)
		if diff := cmp.Diff(strings.Join(append([]string{"plan"}, lines...), "\n"), m.String()); diff != "" {
			t.Errorf("%q: %s", lines, diff)
		}
	}
	written := &bytes.Buffer{}
	s.out = written
	if s.show([]string{"end", "of it"}, 80); written.Len() > 0 {
		t.Errorf("the same picture was drawn again: %q", written)
	}
}

// TestScreen_ErasesBrokenLinesOfANarrowerTerminal: a terminal that was made narrower has broken the lines that
// stood there; all their rows are drawn over.
func TestScreen_ErasesBrokenLinesOfANarrowerTerminal(t *testing.T) {
	s := &screen{out: &bytes.Buffer{}}
	s.show([]string{strings.Repeat("x", 70), text.Paint("31", strings.Repeat("y", 20)), ""}, 80)
	if got := s.rows(80); got != 3 {
		t.Errorf("%d rows at 80", got)
	}
	if got := s.rows(30); got != 5 {
		t.Errorf("%d rows at 30", got)
	}
	out := &bytes.Buffer{}
	s.out = out
	s.show([]string{"a"}, 30)
	if !strings.HasPrefix(out.String(), "\x1b[5A\r\x1b[J") {
		t.Errorf("%q", out)
	}
}

func opened(at time.Time) event.Event {
	return event.Event{
		Time: at, Type: event.Opened, Step: -1, Workload: event.Workload{Kind: "CloneSet", Name: "web"}, Counts: &event.Counts{Desired: 1, Total: 1},
		Plan: &event.Plan{Driver: "kruise", Steps: []event.Step{{Name: "update", Updated: 1}}},
	}
}

// TestPicture_IsDrawnAtTheNextTick: what happens is drawn with the next beat, the time every second, and
// the end at once.
func TestPicture_IsDrawnAtTheNextTick(t *testing.T) {
	m := &terminal{}
	p := &picture{live: view.RolloutLive{}, screen: screen{out: m, size: func() (int, int) { return 100, 24 }}}
	begin := time.Now()
	p.Event(opened(begin))
	if m.String() != "" {
		t.Errorf("drawn before its time: %s", m)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "0s so far"}, {500 * time.Millisecond, "0s so far"}, {1200 * time.Millisecond, "1.2s so far"}, {1900 * time.Millisecond, "1.2s so far"}} {
		p.Beat(begin.Add(c.after))
		if !strings.HasSuffix(m.String(), c.want) {
			t.Errorf("after %s:\n%s\nwant %s", c.after, m, c.want)
		}
	}
	p.Event(event.Event{Time: begin.Add(2 * time.Second), Type: event.Ended, Outcome: event.Completed, Counts: &event.Counts{Desired: 1, Total: 1, Ready: 1, Updated: 1, UpdatedReady: 1}})
	if !strings.HasSuffix(m.String(), "completed after 2s") {
		t.Error(m)
	}
}
