package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func asking(t *testing.T) Model {
	t.Helper()
	m := opened(newManyPods(t, decode(t, manifests(3))).change(1))
	m.options.Actions, m.options.ReadOnly = echo{}, false
	return m
}

// TestNotice_WaitsForTheCommandLine checks that an error that arrives while a command is typed is
// shown afterwards.
func TestNotice_WaitsForTheCommandLine(t *testing.T) {
	m := hasty(asking(t), ":", "s")
	m, _ = m.take(done{err: errors.New("it is forbidden")})
	m = hasty(m, "o", "esc")
	if m.over != nil || m.notice.Text != "it is forbidden" {
		t.Errorf("%+v", m.notice)
	}
	if m = hasty(m, "j"); m.notice.Text != "" {
		t.Error("it stays")
	}
}

// TestProgress_StaysUntilTheLastActionEnds: an action is shown as in progress until it has ended, also when others have ended.
func TestProgress_StaysUntilTheLastActionEnds(t *testing.T) {
	m := asking(t)
	var ends []tea.Msg
	for k, answer := range map[string][]string{"P": {"y"}, "u": {"y"}} {
		next, ask := m.take(key(k))
		next, _ = next.take(ask())
		next = hasty(calmed(next), answer[:len(answer)-1]...)
		next, do := next.take(key(answer[len(answer)-1]))
		m, ends = next, append(ends, do())
	}
	m, _ = m.take(ends[1])
	if got := (frame{m}).link().String(); !strings.Contains(got, "cloneset/web") {
		t.Errorf("%q", got)
	}
	if m, _ = m.take(ends[0]); strings.Contains((frame{m}).link().String(), "cloneset/web") {
		t.Errorf("%q", (frame{m}).link().String())
	}
}

// TestMouse_DoubleClickOpens checks that two clicks open a row only if they follow each other at
// one place of one screen.
func TestMouse_DoubleClickOpens(t *testing.T) {
	m := asking(t)
	at := tea.MouseClickMsg{X: 3, Y: 5, Button: tea.MouseLeft}
	for name, between := range map[string]func(Model) Model{
		"long ago": func(m Model) Model {
			later := *m.env.World
			later.Now = later.Now.Add(time.Minute)
			m, _ = m.arrive(worldMsg{turn: m.feed.turn, world: &later})
			return m
		},
		"another screen": func(m Model) Model { return hasty(m, "y") },
		"a key":          func(m Model) Model { return hasty(m, "j") },
	} {
		m, _ := m.take(at)
		if m = between(m); m.click != nil && m.env.World.Now.Sub(m.click.at) <= quick {
			t.Errorf("%s: the next click there would be a second one", name)
		}
	}
	first, _ := m.take(at)
	if second, _ := first.take(at); first.click == nil || second.click != nil {
		t.Error("the second click is none")
	}
}

// TestCommand_RejectsAnUnexpectedArgument checks that a word after an action without arguments is
// not taken for the name of a pod.
func TestCommand_RejectsAnUnexpectedArgument(t *testing.T) {
	m := asking(t)
	for text, asks := range map[string]bool{"restart web-00001": false, "restart": true, "undo 3": true, "undo 3 4": false, "scale 2": true} {
		next, _ := run(m, text)
		if _, ok := next.over.(dialog); ok != asks || asks == next.notice.Bad {
			t.Errorf("%s: asks %t, %+v", text, ok, next.notice)
		}
	}
}

// calmed is the model after a moment in which nothing was typed.
func calmed(m Model) Model {
	switch over := m.over.(type) {
	case dialog:
		m, _ = m.take(pauseEnd{over.turn, over.waits})
		return m
	case leaveDialog:
		m, _ = m.take(pauseEnd{over.turn, over.waits})
		return m
	}
	return m
}

// nomad goes to any namespace that is not forbidden.
type nomad struct{ world.Source }

func (nomad) Move(ctx context.Context, to string) error {
	if to == "secret" {
		return errors.New("it is forbidden")
	}
	return ctx.Err()
}

// closing counts how often it is closed.
type closing struct {
	screen.Screen
	closed *int
}

func (c closing) Close() { *c.closed++ }

func (c closing) Update(screen.Env, tea.Msg) (screen.Screen, screen.After) { return c, nil }

// TestMove_LastOneWins: the last one counts, in whatever order they end, and what was open in the
// old namespace is closed.
func TestMove_LastOneWins(t *testing.T) {
	m := asking(t)
	m.options.Source = nomad{}
	closed := 0
	m = m.with(closing{m.top(), &closed})
	m, slow := run(m, "ns one")
	m, fast := run(m, "ns secret")
	m, _ = m.take(fast())
	m, _ = m.take(slow())
	if len(m.stack) != 2 || m.notice.Text != "it is forbidden" || len(m.works.running) > 0 || closed > 0 {
		t.Errorf("%d screens, %+v, %v", len(m.stack), m.notice, m.works.running)
	}
	m, there := run(m, "ns two")
	if m, _ = m.take(there()); len(m.stack) != 1 || closed != 1 || m.notice.Text != "namespace two" {
		t.Errorf("%d screens, closed %d times, %+v", len(m.stack), closed, m.notice)
	}
}

// TestPrompt_ScrollsALongEffect checks that the answers stay visible while the effect scrolls;
// without room for the prompt nothing can be confirmed.
func TestPrompt_ScrollsALongEffect(t *testing.T) {
	m := asking(t)
	m.options.Actions = wordy{}
	m, _ = m.take(tea.WindowSizeMsg{Width: 60, Height: 15})
	m, ask := m.take(key("P"))
	m, _ = m.take(ask())
	seen := ""
	m = calmed(m)
	for range 40 {
		if frame := m.frame(); !strings.Contains(frame, "yes") {
			t.Fatalf("no answer is offered:\n%s", frame)
		} else {
			seen += frame
		}
		m = hasty(m, "down")
	}
	if !strings.Contains(seen, "line 1 ") || !strings.Contains(seen, "line 29 ") || !strings.Contains(seen, "Pause") {
		t.Errorf("not all can be read:\n%s", m.frame())
	}
	m, _ = m.take(tea.WindowSizeMsg{Width: 60, Height: 6})
	if m, _ := m.take(key("y")); len(m.works.running) > 0 {
		t.Error("an answer counts that cannot be seen")
	}
	m, _ = m.take(tea.WindowSizeMsg{Width: 60, Height: 15})
	if m, _ := m.take(key("y")); len(m.works.running) == 0 {
		t.Error("no answer counts any more")
	}
}

// wordy has much to say of an act.
type wordy struct{ world.Actions }

func (wordy) Effect(context.Context, world.Act) (world.Effect, error) {
	var e world.Effect
	for i := range 30 {
		e.Lines = append(e.Lines, fmt.Sprintf("line %d of many", i))
	}
	return e, nil
}

// TestPrompt_ShowsTheTypedPartOfALongName: what is typed is seen, however long the name is that has to be.
func TestPrompt_ShowsTheTypedPartOfALongName(t *testing.T) {
	m := asking(t)
	w := *m.env.World
	w.Where = world.Where{Production: true}
	m.env.World = &w
	d := newDialog(m, world.Act{})
	d.ready, d.calm, d.name = true, true, strings.Repeat("production-", 9)
	m.over = d
	for _, width := range []int{200, 80, 40} {
		m, _ = m.take(tea.WindowSizeMsg{Width: width, Height: 24})
		if frame := m.frame(); !strings.Contains(frame, "type") || !strings.Contains(hasty(m, strings.Split(d.name+"END", "")...).frame(), "END") {
			t.Errorf("%d columns:\n%s", width, frame)
		}
	}
}
