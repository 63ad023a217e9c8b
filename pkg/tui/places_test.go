package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// rowOf is a workload of a health, with a rollout or without.
func rowOf(kind string, h world.Health, steps int) *world.Workload {
	w := &world.Workload{Ref: cluster.Ref{Group: "apps.kruise.io", Kind: kind, Name: "web"}, Health: h, Steps: steps}
	if steps > 0 {
		w.Approval = h == world.Paused
		w.Toggle = map[world.Health]plan.Transition{world.Blocked: plan.TransitionRetry, world.Progressing: plan.TransitionPause}[h]
	}
	return w
}

// TestFooter_OffersWhatApplies: what the row calls for is first, and what leads nowhere
// is not there.
func TestFooter_OffersWhatApplies(t *testing.T) {
	for _, c := range []struct {
		row   *world.Workload
		first string
		none  string
	}{
		{rowOf("CloneSet", world.Blocked, 4), "P retry  u undo", "> promote"},
		{rowOf("CloneSet", world.Paused, 4), "> promote", "P "},
		{rowOf("CloneSet", world.Healthy, 0), "", "> promote"},
		{rowOf("SidecarSet", world.Healthy, 0), "", "s scale"},
		{rowOf("DaemonSet", world.Healthy, 0), "", "a abort"},
	} {
		m := asking(t)
		m.width = 300
		m = m.leave(1)
		m.env.World = &world.World{Loaded: true, Workloads: []*world.Workload{c.row}}
		m, _ = m.pass(screen.Changed{})
		line := strings.TrimLeft((frame{m}).keyLine().String(), " ")
		if !strings.HasPrefix(line, c.first) || strings.Contains(line, c.none) || !strings.Contains(line, "R restart") {
			t.Errorf("%s %s: %q", c.row.Kind, c.row.Health, line)
		}
	}
	m := asking(t)
	m.options.Actions = nil
	m, _ = m.open(screen.Open{Screen: screen.Distributions})
	if line := (frame{m}).keyLine().String(); strings.Contains(line, "restart") || !strings.Contains(line, "esc back") {
		t.Errorf("acts are offered where nothing can be acted on: %q", line)
	}
}

// TestContext_SwitchEndsTheInterface: :ctx ends the interface for another context, and a name that is
// none does not.
func TestContext_SwitchEndsTheInterface(t *testing.T) {
	m := asking(t)
	m.options.Contexts = []string{"lab", "prod"}
	if wrong, _ := run(m, "ctx none"); wrong.Next() != "" || !wrong.notice.Bad {
		t.Error("a context that is not there is gone to")
	}
	next, cmd := run(m, "ctx prod")
	if _, quits := cmd().(tea.QuitMsg); !quits || next.Next() != "prod" {
		t.Errorf("next %q", next.Next())
	}
	m.env.World = &world.World{Loaded: true, Running: []cluster.Ref{{Kind: "CloneSet", Name: "web"}}}
	asks, _ := run(m, "ctx prod")
	if stays := hasty(asks, "esc"); stays.over != nil {
		t.Error("the question is not left")
	}
	if quits, _ := hasty(asks, "esc").key(key("q")); quits.Next() != "" {
		t.Errorf("leaving goes to %q", quits.Next())
	}
}

// TestKinds_AreCommands: the name of a kind shows its workloads, as in other tools.
func TestKinds_AreCommands(t *testing.T) {
	m := asking(t)
	for _, text := range []string{"cloneset", "clonesets"} {
		got, _ := run(m, text)
		if f, ok := got.top().(screen.Filterable); !ok || f.Filtered() != "cloneset/" || got.notice.Bad {
			t.Errorf("%s: %+v", text, got.notice)
		}
	}
	if got, _ := run(m, "deploy"); !got.notice.Bad {
		t.Error("a kind that is not there is found")
	}
	if got, _ := run(m, "pods cloneset/web"); got.top().Title() != "cloneset/web" {
		t.Error(got.top().Title())
	}
}

// TestCopy_CopiesTheName: C copies the pod of the cursor, or the workload, as a name.
func TestCopy_CopiesTheName(t *testing.T) {
	m := asking(t)
	m, cmd := m.take(key("C"))
	if cmd == nil || m.copies != "web-00000" {
		t.Errorf("%q, %+v", m.copies, m.notice)
	}
	m = m.leave(1)
	m, _ = m.pass(screen.Changed{})
	if m, _ = m.take(key("C")); m.copies != "cloneset/web" {
		t.Errorf("%q, %+v", m.copies, m.notice)
	}
}

// TestCopy_CopiesWhatAColleagueNeeds: c copies the workload, its step, the reason and the next commands; again, it shows
// them alone, without the mouse of the interface, for terminals that refuse OSC 52.
func TestCopy_CopiesWhatAColleagueNeeds(t *testing.T) {
	y := newTypist(t, newShop(t), false)
	screens()[screen.Rollout](y)
	m, cmd := y.m.take(key("c"))
	if cmd == nil {
		t.Fatal("nothing is copied")
	}
	text := m.copies
	for _, want := range []string{
		"cloneset/checkout -n shop --context demo: blocked, step 2 of 4 (update), 2 of 8 pods updated", "\nCrashLoopBackOff: container app in pod checkout-",
		"kubectl kruise rollout abort cloneset/checkout -n shop --rollback", "\nkubectl kruise why cloneset/checkout -n shop --context demo",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	m, _ = m.take(key("c"))
	if p, ok := m.over.(plainText); !ok || p.text != text || m.View().MouseMode != tea.MouseModeNone {
		t.Errorf("%T over the screen, mouse %v", m.over, m.View().MouseMode)
	}
	if m, _ = m.take(key("x")); m.over != nil || m.View().MouseMode == tea.MouseModeNone {
		t.Error("a key does not close it")
	}
	m, _ = m.take(key("j"))
	if m, _ = m.take(key("c")); m.over != nil {
		t.Error("a first c shows text")
	}
}

// TestNotify_SendsEachEventOnce: a failure and a pause that waits are reported when they come, and
// what a message says cannot end the sequence.
func TestNotify_SendsEachEventOnce(t *testing.T) {
	m := asking(t)
	of := func(h world.Health, why string) *world.World {
		row := rowOf("CloneSet", h, 3)
		row.Why = why
		return &world.World{Loaded: true, Workloads: []*world.Workload{row}}
	}
	going, stuck, paused := of(world.Progressing, ""), of(world.Blocked, "crash\x07\x1b]0;x"), of(world.Paused, "")
	for n, want := range map[Notify]string{Bell: "\x07", OSC9: "\x1b]9;kubectl kruise: cloneset/web is blocked: crash??]0,x\x07", OSC777: "\x1b]777;notify;kubectl kruise;cloneset/web is blocked: crash??]0,x\x07"} {
		m.options.Notify = n
		cmd := m.options.Notify.news(going, stuck)
		if cmd == nil {
			t.Fatalf("%d: nothing is told", n)
		}
		if got := cmd().(tea.RawMsg).Msg; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
		if m.options.Notify.news(going, paused) == nil {
			t.Errorf("%d: a pause is not told of", n)
		}
		if m.options.Notify.news(stuck, stuck) != nil || m.options.Notify.news(&world.World{}, stuck) != nil || m.options.Notify.news(stuck, going) != nil {
			t.Errorf("%d: what is no news is told", n)
		}
	}
	m.options.Notify = Silent
	if m.options.Notify.news(going, stuck) != nil {
		t.Error("it is told although it is off")
	}
}

// TestHiddenKeys_AreRefusedInALine: a key that the footer does not offer for a row opens no
// question that then refuses: a line says why, and what applies instead.
func TestHiddenKeys_AreRefusedInALine(t *testing.T) {
	for _, c := range []struct {
		workload, key, says string
	}{
		{"basket", ">", "cloneset/basket: no rollout is recorded for it"},
		{"basket", "P", "cloneset/basket: no rollout is recorded for it"},
		{"basket", "a", "cloneset/basket: no rollout is recorded for it"},
		{"checkout", ">", "; try P retry, u undo"},
		{"storefront", "P", "cloneset/storefront: waits for approval, nothing to pause; try > promote"},
		{"node-agent", "s", "daemonset/node-agent has no number of pods of its own"},
		{"mail", "e", "deployment/mail has no partition"},
	} {
		shop := newShop(t)
		y := newTypist(t, shop, false)
		y.m.width = 80
		for _, w := range y.m.env.World.Workloads {
			if w.Name == c.workload {
				y.m, _ = y.m.open(screen.Open{Screen: screen.Rollout, Ref: w.Ref})
			}
		}
		y.look(shop, false)
		if line := (frame{y.m}).keyLine().String(); strings.Contains(line, " "+c.key+" ") {
			t.Errorf("%s: %s is offered: %q", c.workload, c.key, line)
		}
		y.press(c.key)
		if y.m.over != nil || !strings.Contains(y.m.notice.Text, c.says) || *y.acts > 0 {
			t.Errorf("%s, %s: %T, %q, want %q", c.workload, c.key, y.m.over, y.m.notice.Text, c.says)
		}
	}
	y := newTypist(t, newShop(t), false)
	screens()[screen.Rollout](y)
	y.press("u")
	if _, asks := y.m.over.(dialog); !asks {
		t.Errorf("what the row calls for asks nothing: %q", y.m.notice.Text)
	}
}

// TestHelp_FitsOnASmallScreen: on 80x24, the page of each screen is seen as a whole, with the keys that act first.
func TestHelp_FitsOnASmallScreen(t *testing.T) {
	for name, reach := range screens() {
		y := newTypist(t, newShop(t), false)
		reach(y)
		if strings.HasPrefix(name, "over ") {
			continue
		}
		y.m, _ = y.m.take(tea.WindowSizeMsg{Width: 80, Height: 24})
		y.press("?")
		h := y.m.over.(helpPage)
		if lines := h.lines(y.m); len(lines) > h.page(y.m) || !strings.HasPrefix(lines[0].String(), " Act, ") {
			t.Errorf("%s: %d lines, %d have room, the first is %q", name, len(lines), h.page(y.m), lines[0])
		}
	}
}
