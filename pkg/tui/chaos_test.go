package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestModel_SurvivesRandomUse presses random keys, clicks and answers: nothing panics, each frame
// fits, nothing is done without confirmation, and quitting works.
func TestModel_SurvivesRandomUse(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed).run(600) })
		})
	}
}

// chaos is a user who presses keys at random, at a cluster that answers at random.
type chaos struct {
	*testing.T
	*rand.Rand
	shop *demo.Cluster
	m    Model
	// late are commands that have not been carried out yet.
	late []tea.Cmd
	// agreed are the acts that were confirmed, and done are those that were done.
	agreed, done []world.Act
	last         string
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	shop, err := demo.Start(ctx, demo.Options{Seed: seed, Now: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); synctest.Wait() })
	c := &chaos{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), shop: shop}
	c.m = New(ctx, Options{Source: unruly{c}, Actions: unruly{c}, Theme: draw.ThemeOptions{Colors: draw.Colors(seed % 3)}})
	c.answer(c.m.Init())
	return c
}

func (c *chaos) run(steps int) {
	for range steps {
		c.step()
		c.fits()
	}
	c.out()
}

// step is one thing that happens; mostly a key.
func (c *chaos) step() {
	switch c.IntN(14) {
	case 0:
		c.send(tea.WindowSizeMsg{Width: c.size(160), Height: c.size(50)})
	case 1:
		c.send(tea.PasteMsg{Content: one(c, pasted)})
	case 2:
		at := tea.Mouse{X: c.IntN(c.m.width + 2), Y: c.IntN(c.m.height + 2), Button: tea.MouseLeft}
		c.send(tea.MouseClickMsg(at))
		if c.IntN(2) == 0 {
			c.send(tea.MouseClickMsg(at))
		}
	case 3:
		c.send(tea.MouseWheelMsg(tea.Mouse{Button: tea.MouseWheelUp + tea.MouseButton(c.IntN(2))}))
	case 4:
		if err := c.shop.Advance(time.Duration(c.IntN(60)) * time.Second); err != nil {
			c.Fatal(err)
		}
	case 5, 6, 7, 8:
		c.hear()
	case 9:
		for _, letter := range one(c, words) {
			c.press(string(letter))
		}
	default:
		c.press(one(c, typed))
	}
}

var (
	typed = append(strings.Split("abcdefghijklmnopqrstuvwxyzADGLOPRDS0123456789/:?+-=[]{}", ""),
		"enter", "esc", "tab", "space", "backspace", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "ctrl+c", "y", "y", ">", "n", "enter", "esc")
	pasted = []string{"y", "web\n", "7", ":q\r", "\x1b[31m", "日本語", strings.Repeat("long ", 100), "ns pay", "rollout", "scale 3", "sort name", "revisions 1 2"}
)

// words are typed at once, as a search or by mistake.
var words = []string{":ns pay", ":ns shop", "/pay", "/crash", "/au", "/any y", "pay", "any", "runny", "/nnyyy", ":au", ":ny"}

func one[T any](c *chaos, list []T) T { return list[c.IntN(len(list))] }

// size is small often enough.
func (c *chaos) size(most int) int {
	if c.IntN(3) == 0 {
		return c.IntN(8)
	}
	return c.IntN(most)
}

func (c *chaos) press(name string) {
	c.last = name
	d, asks := c.m.over.(dialog)
	was, late := c.m, len(c.late)
	c.send(key(name))
	_, still := c.m.over.(dialog)
	if asks && !still && len(c.m.works.running) > 0 && len(c.late) > late {
		if meant := map[bool]string{true: "y", false: "enter"}[d.name == ""]; !d.open(was) || name != meant {
			c.Fatalf("%s did what was not confirmed: %+v", name, d.act)
		}
		c.agreed = append(c.agreed, d.confirmed())
	}
}

// hear carries out a command that is late, in any order.
func (c *chaos) hear() {
	if len(c.late) == 0 {
		return
	}
	i := c.IntN(len(c.late))
	cmd := c.late[i]
	c.late = slices.Delete(c.late, i, i+1)
	msg := cmd()
	if batch := reflect.ValueOf(msg); batch.IsValid() && batch.Kind() == reflect.Slice {
		for i := range batch.Len() {
			if cmd, ok := reflect.TypeAssert[tea.Cmd](batch.Index(i)); ok {
				c.answer(cmd)
			}
		}
		return
	}
	if msg != nil {
		c.send(msg)
	}
}

func (c *chaos) send(msg tea.Msg) {
	next, cmd := c.m.Update(msg)
	c.m = next.(Model)
	c.answer(cmd)
}

func (c *chaos) answer(cmd tea.Cmd) {
	if cmd != nil {
		c.late = append(c.late, cmd)
	}
}

// fits holds a frame against the terminal, and what was done against what was agreed.
func (c *chaos) fits() {
	lines := strings.Split(c.m.View().Content, "\n")
	if len(lines) > max(c.m.height, 1) {
		c.Fatalf("after %s: %d lines on %dx%d", c.last, len(lines), c.m.width, c.m.height)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > c.m.width {
			c.Fatalf("after %s: %d columns on %dx%d: %q", c.last, w, c.m.width, c.m.height, l)
		}
	}
	for _, act := range c.done {
		if !slices.ContainsFunc(c.agreed, func(a world.Act) bool { return reflect.DeepEqual(a, act) }) {
			c.Fatalf("without confirmation: %+v", act)
		}
	}
}

// out goes back to the first screen, and leaves.
func (c *chaos) out() {
	for range 3*len(c.m.stack) + 3 {
		c.press("esc")
	}
	if len(c.m.stack) > 1 || c.m.over != nil {
		c.Errorf("back does not lead to the first screen: %s", c.m.top().Title())
	}
	for _, name := range []string{"q", "ctrl+c"} {
		if !c.leaves(name) {
			c.Errorf("%s does not lead out", name)
		}
	}
}

// leaves presses a key, twice where something asks.
func (c *chaos) leaves(name string) bool {
	for range 2 {
		next, cmd := c.m.Update(key(name))
		if cmd != nil {
			if _, ok := cmd().(tea.QuitMsg); ok {
				return true
			}
		}
		if c.m = next.(Model); c.m.over != nil {
			name = "ctrl+c"
		}
	}
	return false
}
