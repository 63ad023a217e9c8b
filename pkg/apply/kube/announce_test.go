package kube

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

func TestEventNoteOf_EventsOfRollout(t *testing.T) {
	for name, c := range map[string]struct {
		event event.Event
		want  string
	}{
		"step":      {event.Event{Type: event.StepDone, Step: 1, Text: "let 3 of 6 pods follow"}, "Normal RolloutStep step 2 of 4 is done: let 3 of 6 pods follow"},
		"last step": {event.Event{Type: event.StepDone, Step: 3}, ""},
		"way back":  {event.Event{Type: event.RollingBack, Text: "crash web-0"}, "Warning RolloutRollsBack goes back: crash web-0"},
		"completed": {event.Event{Type: event.Ended, Outcome: event.Completed}, "Normal RolloutCompleted all steps are done"},
		"taken back": {
			event.Event{Type: event.Ended, Outcome: event.RolledBack, Text: "crash web-0"}, "Warning RolloutRolledBack the way back is done: crash web-0",
		},
		"halted":      {event.Event{Type: event.Ended, Outcome: event.Failed, Text: "crash web-0"}, "Warning RolloutHalted failed: crash web-0"},
		"interrupted": {event.Event{Type: event.Ended, Outcome: event.Interrupted}, ""},
		"pods":        {event.Event{Type: event.Pods}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, ok := eventNoteOf(c.event, 4)
			got := strings.TrimSpace(n.kind + " " + n.reason + " " + n.note)
			if ok != (c.want != "") || ok && got != c.want {
				t.Errorf("%q %t, want %q", got, ok, c.want)
			}
		})
	}
}

func TestTruncate_KeepsRunes(t *testing.T) {
	text := strings.Repeat("é", 600)
	if got := truncate(text, 1023); len(got) > 1023 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
	}
	if got := truncate("short", 1024); got != "short" {
		t.Error(got)
	}
}
