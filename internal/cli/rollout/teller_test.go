package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// driven is what a verb has at a terminal, or before a pipe.
func driven(out *bytes.Buffer, terminal bool, env map[string]string) *driving {
	s := factory.Streams{Out: out, Err: &bytes.Buffer{}, In: strings.NewReader(""), OutTTY: terminal, Getenv: func(key string) string { return env[key] }}
	if terminal {
		s.Size = func() (int, int) { return 80, 24 }
	}
	return &driving{common: &common{factory: factory.New(s)}, output: "text", successOn: "complete"}
}

// TestTeller: a terminal gets a picture, a pipe and a terminal that cannot redraw get
// lines, and whoever asks for JSON gets that wherever it goes.
func TestTeller(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		env      map[string]string
		output   string
		want     string
	}{
		"terminal":      {true, nil, "text", "\x1b[K\n"},
		"pipe":          {false, nil, "text", " completed after 0s: 0 of 1 updated, 0 ready\n"},
		"dumb terminal": {true, map[string]string{"TERM": "dumb"}, "text", " completed after 0s: 0 of 1 updated, 0 ready\n"},
		"json":          {true, nil, "json", `"outcome":"completed"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := driven(&out, c.terminal, c.env)
			d.output = c.output
			told := d.teller()
			now := time.Now()
			told.event(opened(now))
			told.event(event.Event{Time: now, Type: event.Ended, Outcome: event.Completed, Counts: &event.Counts{Desired: 1, Total: 1}})
			told.stop()
			if !strings.Contains(out.String(), c.want) || c.output == "json" && !json.Valid([]byte(strings.Split(out.String(), "\n")[0])) {
				t.Errorf("%q", out.String())
			}
			if n := strings.Count(out.String(), "\x1b"); n > 0 && c.want != "\x1b[K\n" {
				t.Errorf("%d escapes in %q", n, out.String())
			}
		})
	}
}

// TestEnd: each outcome has its error, and with it its exit code.
func TestEnd(t *testing.T) {
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
		{event.TakenOver, "complete", plan.ErrTaken},
		{event.Failed, "complete", command.ErrFailed},
		{event.RolledBack, "paused", command.ErrFailed},
	} {
		d := &driving{successOn: c.success}
		if err := d.end(apply.Result{Outcome: c.outcome}); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s, success on %s: %v, want %v", c.outcome, c.success, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		d       driving
		atPause bool
		want    string
	}{
		{driving{output: "text", successOn: "complete"}, false, ""},
		{driving{output: "json", successOn: "paused", timeout: time.Minute}, true, ""},
		{driving{output: "yaml", successOn: "complete"}, false, `--output: unknown value "yaml"`},
		{driving{output: "text", successOn: "failed"}, false, `--success-on: unknown value "failed"`},
		{driving{output: "text", successOn: "complete", timeout: -1}, false, "--timeout: -1ns is in the past"},
	} {
		err := c.d.validate()
		if got := textIn(err); got != c.want || c.d.atPause != c.atPause {
			t.Errorf("%q at a pause %v, want %q", got, c.d.atPause, c.want)
		}
	}
}

func textIn(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestUntil_IsTheTimeoutFromNow: without a timeout a rollout has no end.
func TestUntil_IsTheTimeoutFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := (&driving{}).until(); !got.IsZero() {
			t.Errorf("without a timeout: %s, want none", got)
		}
		if got, want := (&driving{timeout: time.Hour}).until(), time.Now().Add(time.Hour); !got.Equal(want) {
			t.Errorf("with an hour: %s, want %s", got, want)
		}
	})
}
