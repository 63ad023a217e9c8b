// Package sidecars is the screen of SidecarSets: a matrix of sets and workloads, and of
// the cell of the cursor what is old, what cannot be upgraded and why, and where hot
// upgrades stand.
package sidecars

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is the matrix.
type Screen struct {
	sets []*world.SidecarSet
	// rows are the workloads that pass the filter; the first row is all of them.
	rows []row
	// known is false until the sets have arrived.
	known bool
	sizes sizes

	filter string
	window draw.Window
	// set and at are where the cursor is: sets and workloads come and go.
	set string
	at  cluster.Ref
}

// row is one workload: a cell for each set, nil where that matches none of its pods.
type row struct {
	ref   cluster.Ref
	cells []*world.SidecarCell
}

// New is the screen as it opens; a SidecarSet that is pointed at is the one of the
// cursor.
func New(o screen.Open) Screen {
	if o.Ref.Kind == kruise.KindSidecarSet {
		return Screen{set: o.Ref.Name}
	}
	return Screen{at: o.Ref}
}

// Title is its breadcrumb.
func (Screen) Title() string { return "sidecars" }

// Want is all SidecarSets.
func (Screen) Want() world.Want { return world.Want{Sidecars: true} }

// Filtered is the filter.
func (s Screen) Filtered() string { return s.filter }

// Selection is the set of the cursor: a rollout is one of a set.
func (s Screen) Selection(screen.Env) screen.Selection {
	if s.current() == nil {
		return screen.Selection{}
	}
	return screen.Selection{Workloads: []cluster.Ref{s.setRef()}}
}

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env), nil
	case screen.Filter:
		s.filter = msg.Text
		return s.refresh(env), nil
	case screen.Wheel:
		return s.move(s.window.Move(msg.By, len(s.rows), page(env))), nil
	case screen.Click:
		return s.click(env, msg)
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	if w, ok := s.window.Key(key, len(s.rows), page(env)); ok {
		return s.move(w), nil
	}
	switch {
	case left.Is(key):
		return s.beside(-1), nil
	case right.Is(key):
		return s.beside(1), nil
	case open.Is(key):
		return s, s.open()
	case s.current() == nil:
		return s, nil
	}
	return s, links.Open(key, screen.Open{Ref: s.setRef()})
}

func (s Screen) move(w draw.Window) Screen {
	s.window = w
	if w.At < len(s.rows) {
		s.at = s.rows[w.At].ref
	}
	return s
}

// beside goes to another set.
func (s Screen) beside(by int) Screen {
	if i := s.column() + by; i >= 0 && i < len(s.sets) {
		s.set = s.sets[i].Name
	}
	return s
}

// click goes to a cell; a second click opens it.
func (s Screen) click(env screen.Env, c screen.Click) (screen.Screen, screen.After) {
	i := s.window.Top + c.Y - above
	if c.Y < above || c.Y >= above+page(env) || i >= len(s.rows) {
		return s, nil
	}
	s = s.move(s.window.Move(i-s.window.At, len(s.rows), page(env)))
	first, last := s.shown(env)
	if column := (c.X - s.sizes.left()) / (cellWidth + gap); c.X >= s.sizes.left() && first+column < last {
		s.set = s.sets[first+column].Name
	}
	if c.Double {
		return s, s.open()
	}
	return s, nil
}

// open is the rollout of the set on the row of all workloads, and that of the workload
// on any other.
func (s Screen) open() screen.After {
	ref := s.at
	if ref == (cluster.Ref{}) {
		ref = s.setRef()
	}
	if ref.Name == "" {
		return nil
	}
	return screen.Send(screen.Open{Screen: screen.Rollout, Ref: ref})
}

var (
	open  = screen.Binding{Keys: []string{"enter"}, Does: "open", Help: "the rollout of the set in the row of all workloads, else that of the workload"}
	left  = screen.Binding{Keys: []string{"left", "h"}, Does: "set", Help: "the set before"}
	right = screen.Binding{Keys: []string{"right", "tab"}, Help: "the next set"}
)

var links = screen.Links{
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the set as YAML", Minor: true}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the set in words", Minor: true}, Screen: screen.Text, Text: "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return append([]screen.Binding{open, left, right}, links.Keys()...)
}
