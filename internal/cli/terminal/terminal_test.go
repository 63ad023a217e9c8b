package terminal

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
)

func TestPlain_FollowsTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, false},
		{map[string]string{"TERM": "linux", "LANG": "C.UTF-8"}, true},
	} {
		if got := factory.ASCII(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestCheck(t *testing.T) {
	if Check(factory.Streams{InTTY: true}, "do that") == nil || Check(factory.Streams{InTTY: true, OutTTY: true}, "") != nil {
		t.Error("the interface would run in a pipe, or not on a terminal")
	}
}

// TestLook_Complete: flags and the environment say how the interface looks and notifies.
func TestLook_Complete(t *testing.T) {
	for _, c := range []struct {
		look   Appearance
		env    map[string]string
		light  bool
		ground bool
		notify tui.Notify
		bad    bool
	}{
		{look: Appearance{"auto", "bell"}, notify: tui.Bell},
		{look: Appearance{"auto", "off"}, env: map[string]string{"COLORFGBG": "0;15"}, light: true},
		{look: Appearance{"auto", "off"}, env: map[string]string{"COLORFGBG": "15;default;0"}},
		{look: Appearance{"auto", "off"}, env: map[string]string{"COLORFGBG": "0;7"}, light: true},
		{look: Appearance{"dark", "off"}, env: map[string]string{"COLORFGBG": "0;15"}, ground: true},
		{look: Appearance{"light", "desktop"}, light: true, ground: true, notify: tui.OSC9},
		{look: Appearance{"auto", "desktop"}, env: map[string]string{"VTE_VERSION": "7600"}, notify: tui.OSC777},
		{look: Appearance{"pink", "off"}, bad: true},
		{look: Appearance{"auto", "shout"}, bad: true},
	} {
		var o tui.Options
		err := c.look.Complete(func(name string) string { return c.env[name] }, &o)
		if (err != nil) != c.bad || !c.bad && (o.Theme.Light != c.light || o.Ground != c.ground || o.Notify != c.notify) {
			t.Errorf("%+v: %+v, %v", c, o, err)
		}
	}
}
