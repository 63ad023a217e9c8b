package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// hasty types faster than any command returns.
func hasty(m Model, keys ...string) Model {
	for _, k := range keys {
		m, _ = m.take(key(k))
	}
	return m
}

var codes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
}

func key(name string) tea.KeyPressMsg {
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}

// echo shows what an act is.
type echo struct{ world.Actions }

func (echo) Effect(_ context.Context, a world.Act) (world.Effect, error) {
	return world.Effect{Lines: []string{string(a.Verb)}}, nil
}

func (echo) Do(context.Context, world.Act) (string, error) { return "", nil }

// TestKeys_TypedFastReachTheOpenedScreen checks that a key goes to the screen that the previous key
// has opened.
func TestKeys_TypedFastReachTheOpenedScreen(t *testing.T) {
	m := opened(newManyPods(t, decode(t, manifests(3))).change(1))
	for keys, want := range map[string]string{
		"enter":           "pod/web-",
		"enter y":         "pod/web-00000 as YAML",
		"enter d":         "describe pod/web-00000",
		"enter d y":       "describe pod/web-00000",
		"y esc enter esc": "cloneset/web",
	} {
		if got := hasty(m, strings.Fields(keys)...).top().Title(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", keys, got, want)
		}
	}
}

// TestAct_IgnoresTheEffectOfACanceledOne checks that the effect of an action that the user has
// canceled is not shown for the next one.
func TestAct_IgnoresTheEffectOfACanceledOne(t *testing.T) {
	m := opened(newManyPods(t, decode(t, manifests(3))).change(1))
	m.options.Actions, m.options.ReadOnly = echo{}, false
	m, late := m.take(key("P"))
	m = hasty(m, "esc")
	m, asked := m.take(key("u"))
	m, _ = m.take(late())
	if d, ok := m.over.(dialog); !ok || d.open(m) {
		t.Errorf("the effect of the act before counts: %v", d.effect)
	}
	m, _ = m.take(asked())
	m = calmed(m)
	if d, ok := m.over.(dialog); !ok || !d.open(m) || d.effect.Lines[0] != "undo" {
		t.Errorf("its own does not: %v", d.effect)
	}
}

// TestAct_RefusesAChangedEffect checks that only the effect that the prompt showed is carried out,
// even if the cluster has changed since.
func TestAct_RefusesAChangedEffect(t *testing.T) {
	m := opened(newManyPods(t, decode(t, manifests(3))).change(1))
	doing := &recorder{}
	m.options.Actions, m.options.ReadOnly = doing, false
	m, asked := m.take(key("P"))
	m, _ = m.take(asked())
	_, do := calmed(m).take(key("y"))
	do()
	if len(doing.acts) != 1 || doing.acts[0].Precondition[doing.acts[0].On[0]] != "shown" {
		t.Errorf("%+v", doing.acts)
	}
}

// recorder keeps what it is asked to do.
type recorder struct {
	world.Actions
	acts []world.Act
}

func (*recorder) Effect(_ context.Context, a world.Act) (world.Effect, error) {
	return world.Effect{Lines: []string{"this"}, Precondition: map[cluster.Ref]string{a.On[0]: "shown"}}, nil
}

func (r *recorder) Do(_ context.Context, a world.Act) (string, error) {
	r.acts = append(r.acts, a)
	return "", nil
}

// TestDialog_SaysForHowLongItWaits: a server may take long to answer; that is not a program that hangs.
func TestDialog_SaysForHowLongItWaits(t *testing.T) {
	m := opened(newManyPods(t, decode(t, manifests(3))).change(1))
	m.options.Actions, m.options.ReadOnly = echo{}, false
	asked := *m.env.World
	asked.Now = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	m.env.World = &asked
	m, _ = m.take(key("P"))
	waits := func() string {
		return draw.Line{Spans: m.over.(dialog).effects(m)[0].Spans}.String()
	}
	if got := waits(); got != "working out what that would do ..." {
		t.Error(got)
	}
	later := *m.env.World
	later.Now = later.Now.Add(12 * time.Second)
	m.env.World = &later
	if got := waits(); got != "working out what that would do ... for 12s" {
		t.Error(got)
	}
}
