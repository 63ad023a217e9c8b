package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// typist types at the shop of the demo, and answers every command at once, that of waiting
// included: each question is calm as soon as it may be.
type typist struct {
	*testing.T
	m    Model
	acts *int
}

// actsCounter counts what is done, and does nothing.
type actsCounter struct {
	world.Actions
	acts *int
}

func (c actsCounter) Do(context.Context, world.Act) (string, error) {
	*c.acts++
	return "", nil
}

func (c actsCounter) Shell(string, string, string) (world.Program, error) {
	*c.acts++
	return nil, context.Canceled
}

func newShop(t *testing.T) *demo.Cluster {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return shop
}

func newTypist(t *testing.T, shop *demo.Cluster, production bool) *typist {
	t.Helper()
	y := &typist{T: t, acts: new(int)}
	at := func(time.Duration, tea.Msg) tea.Cmd { return nil }
	y.m = New(t.Context(), Options{Source: shop, Actions: actsCounter{shop, y.acts}, After: at})
	y.look(shop, production)
	return y
}

// look shows the shop as it is, with the workload that the screen wants.
func (y *typist) look(shop *demo.Cluster, production bool) {
	w, err := shop.Await(y.Context(), 0, y.m.top().Want())
	if err != nil {
		y.Fatal(err)
	}
	w.Where.Production = production
	y.m, _ = y.m.arrive(worldMsg{turn: y.m.feed.turn, world: w})
}

// press types a key, carries out what it asks for, and lets a moment go by.
func (y *typist) press(name string) {
	next, cmd := y.m.take(key(name))
	y.m = next
	if _, asks := y.m.over.(dialog); asks && cmd != nil {
		if e, ok := cmd().(effect); ok {
			y.m, _ = y.m.take(e)
		}
	} else if len(y.m.works.running) > 0 && cmd != nil {
		cmd()
	}
	y.m = calmed(y.m)
}

// screens are all that can be opened, and questions and pages that lie over them.
func screens() map[string]func(y *typist) {
	checkout := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "checkout"}
	storefront := checkout
	storefront.Name = "storefront"
	open := func(o screen.Open) func(y *typist) {
		return func(y *typist) {
			y.m, _ = y.m.open(o)
			y.look(y.m.options.Source.(*demo.Cluster), y.m.env.World.Where.Production)
		}
	}
	list := map[string]func(y *typist){}
	for _, r := range routes {
		o := screen.Open{Screen: r.name, Ref: checkout}
		list[r.name] = open(o)
	}
	for _, k := range []string{">", "P", "u", "a", "R", "?"} {
		ref := checkout
		if k == ">" { // which waits for approval
			ref = storefront
		}
		list["over "+k] = func(y *typist) {
			open(screen.Open{Screen: screen.Rollout, Ref: ref})(y)
			if y.press(k); y.m.over == nil {
				y.Fatalf("%s opens nothing: %q", k, y.m.notice.Text)
			}
		}
	}
	list["over q"] = func(y *typist) {
		open(screen.Open{Screen: screen.Rollout, Ref: checkout})(y)
		w := *y.m.env.World
		w.Running = []cluster.Ref{checkout}
		y.m.env.World = &w
		y.press("q")
	}
	return list
}

// TestSearch_TypedTextChangesNothing: whatever is typed behind a slash, on whatever screen and over
// whatever question, changes nothing in the cluster, however slowly it is typed.
func TestSearch_TypedTextChangesNothing(t *testing.T) {
	shop := newShop(t)
	letters := strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:?+-=[]{} yynaPuRs", "")
	letters = append(letters, "tab", "space", "backspace", "left", "right", "up", "down", "home", "end")
	for name, reach := range screens() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(seed, 7))
				y := newTypist(t, shop, seed%4 == 3)
				reach(y)
				if _, named := y.m.over.(dialog); named && seed%4 == 3 {
					continue // a name is typed there, which may have a slash
				}
				typed := []string{"/"}
				y.press("/")
				for range 60 {
					k := letters[r.IntN(len(letters))]
					typed = append(typed, k)
					y.press(k)
				}
				if *y.acts > 0 {
					t.Fatalf("%v changed the cluster", typed)
				}
				y.press("enter")
				if _, asks := y.m.over.(dialog); asks || *y.acts > 0 {
					t.Fatalf("%v asks something", typed)
				}
			}
		})
	}
}

// TestSearch_ActionKeysChangeNothing: on every screen, each key that acts does nothing behind a slash,
// whatever answers follow it; what lies over the screen then is what is typed, until enter or
// esc.
func TestSearch_ActionKeysChangeNothing(t *testing.T) {
	shop := newShop(t)
	for name, reach := range screens() {
		for _, v := range verbs {
			for _, answers := range []string{"y", "Y", "tab space", "y y n y", "space y"} {
				y := newTypist(t, shop, false)
				reach(y)
				y.press("/")
				y.press(v.Keys[0])
				for k := range strings.FieldsSeq(answers) {
					y.press(k)
				}
				_, searched := y.m.over.(filterPrompt)
				if help, over := y.m.over.(helpPage); over {
					searched = help.typing
				}
				if *y.acts > 0 || !searched {
					t.Errorf("%s: / %s %s: %d acts, %T is over the screen", name, v.Keys[0], answers, *y.acts, y.m.over)
				}
			}
		}
	}
}

// TestPrompt_IgnoresKeysTypedBeforeItWasSeen: keys that were typed before a question was seen for a
// moment answer nothing, and each of them begins the moment again.
func TestPrompt_IgnoresKeysTypedBeforeItWasSeen(t *testing.T) {
	shop := newShop(t)
	for keys, acts := range map[string]int{"> y": 1, "P y": 1, "R y": 1, "u y": 1, "a y": 1, "u tab enter": 0, "a enter": 0, "> n": 0, "P n y": 0} {
		list := strings.Fields(keys)
		for _, quick := range []bool{true, false} {
			y := newTypist(t, shop, false)
			reach := screens()[screen.Rollout]
			reach(y)
			if list[0] == ">" {
				y.m, _ = y.m.open(screen.Open{Screen: screen.Rollout, Ref: cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "storefront"}})
				y.look(y.m.options.Source.(*demo.Cluster), false)
			}
			next, cmd := y.m.take(key(list[0]))
			y.m, _ = next.take(cmd())
			want := acts
			if quick {
				want = 0
			} else {
				y.m = calmed(y.m)
			}
			for _, k := range list[1:] {
				var do tea.Cmd
				if y.m, do = y.m.take(key(k)); len(y.m.works.running) > 0 && do != nil {
					do()
				}
			}
			if *y.acts != want {
				t.Errorf("%s, quick %v: %d acts, want %d", keys, quick, *y.acts, want)
			}
		}
	}
}

// TestPrompt_EachEarlyKeyRestartsTheDelay: the end of a moment does not count where a key was typed
// in it.
func TestPrompt_EachEarlyKeyRestartsTheDelay(t *testing.T) {
	y := newTypist(t, newShop(t), false)
	screens()[screen.Rollout](y)
	next, cmd := y.m.take(key("P"))
	y.m, _ = next.take(cmd())
	d := y.m.over.(dialog)
	first := pauseEnd{d.turn, d.waits}
	y.m, _ = y.m.take(key("y"))
	y.m, _ = y.m.take(first)
	if d := y.m.over.(dialog); d.calm {
		t.Error("a key in the moment did not begin it again")
	}
	y.m = calmed(y.m)
	for _, k := range []string{"x", "y"} { // a letter that is no answer, and one right behind it
		y.m, _ = y.m.take(key(k))
	}
	if *y.acts > 0 || y.m.over == nil {
		t.Error("a word answered the question")
	}
}

// TestScope_IsChosen: a restart is about the pod of the cursor, and about the whole workload
// where that is chosen.
func TestScope_IsChosen(t *testing.T) {
	y := newTypist(t, newShop(t), false)
	screens()[screen.Rollout](y)
	y.press("R")
	d := y.m.over.(dialog)
	if len(d.act.Pods) != 1 || !strings.Contains(d.sentence(), "in pod "+d.act.Pods[0]+"?") {
		t.Errorf("%q %v", d.sentence(), d.act.Pods)
	}
	y.press("tab")
	if d = y.m.over.(dialog); len(d.act.Pods) != 0 || !strings.Contains(d.sentence(), "in all pods of cloneset/checkout?") {
		t.Errorf("%q %v", d.sentence(), d.act.Pods)
	}
	if c := d.effect.Changes[d.act.On[0]]; c.Pods < 8 {
		t.Errorf("the effect is of %d pods", c.Pods)
	}
	for _, k := range []string{"a", "u", ">", "P"} {
		y.press("esc")
		y.press(k)
		if d, asks := y.m.over.(dialog); asks && len(d.act.Pods)+len(d.act.Containers) > 0 {
			t.Errorf("%s is said to be about pods: %v", k, d.act)
		}
	}
	if *y.acts > 0 {
		t.Error(fmt.Sprint(*y.acts) + " acts")
	}
}
