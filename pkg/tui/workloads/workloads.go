// Package workloads is the first screen: all workloads, how they are, and why.
package workloads

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is the list.
type Screen struct {
	// rows are those of a version of the world that pass the filter, in order.
	rows   []*world.Workload
	counts counts
	sizes  sizes

	filter string
	faults bool
	order  order

	window draw.Window
	// at is where the cursor is: rows come and go, and it stays.
	at     cluster.Ref
	marked map[cluster.Ref]bool
}

// New is the screen as it opens: what is most urgent first.
func New() Screen { return Screen{marked: map[cluster.Ref]bool{}} }

// Title is its breadcrumb.
func (Screen) Title() string { return "workloads" }

// Want is nothing but the list.
func (Screen) Want() world.Want { return world.Want{} }

// Filtered is the filter.
func (s Screen) Filtered() string { return s.filter }

// above is how many lines stand above the rows: the summary and the header.
const above = 2

// below is how many lines there are for why the row of the cursor is as it is, at least.
func below(env screen.Env) int {
	if env.Height < roomy {
		return 1
	}
	return 2
}

// roomy is from how many lines on there are two for the reason.
const roomy = 16

func page(env screen.Env) int { return max(env.Height-above-below(env), 1) }

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		before := len(s.marked)
		if s = s.refresh(env); before > 0 && len(s.marked) == 0 { // an act would be about the row of the cursor
			return s, screen.Send(screen.Notice{Text: "the marked workloads are gone: keys are now about the row of the cursor", Bad: true})
		}
		return s, nil
	case screen.Filter:
		s.filter = msg.Text
		return s.refresh(env), nil
	case screen.Wheel:
		return s.move(s.window.Move(msg.By, len(s.rows), page(env))), nil
	case screen.Click:
		return s.click(env, msg)
	case screen.Order:
		return s.command(env, msg), nil
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
	case open.Is(key):
		return s, s.open()
	case mark.Is(key):
		return s.mark(env), nil
	case sortBy.Is(key):
		s.order = s.order.next()
	case reverse.Is(key):
		s.order.reversed = !s.order.reversed
	case faults.Is(key):
		s.faults = !s.faults
	case len(s.rows) > 0:
		return s, links.Open(key, screen.Open{Ref: s.at})
	default:
		return s, nil
	}
	return s.refresh(env), nil
}

func (s Screen) move(w draw.Window) Screen {
	s.window = w
	if w.At < len(s.rows) {
		s.at = s.rows[w.At].Ref
	}
	return s
}

// click selects a row; a second click opens it.
func (s Screen) click(env screen.Env, c screen.Click) (screen.Screen, screen.After) {
	i := s.window.Top + c.Y - above
	if c.Y < above || c.Y >= env.Height-below(env) || i >= len(s.rows) {
		return s, nil
	}
	s = s.move(s.window.Move(i-s.window.At, len(s.rows), page(env)))
	if c.Double {
		return s, s.open()
	}
	return s, nil
}

// open opens the rollout of the workload of the cursor.
func (s Screen) open() screen.After {
	if len(s.rows) == 0 {
		return nil
	}
	return screen.Send(screen.Open{Screen: screen.Rollout, Ref: s.at})
}

// mark marks or unmarks the row, and moves to the next one.
func (s Screen) mark(env screen.Env) Screen {
	if len(s.rows) == 0 {
		return s
	}
	s.marked = maps.Clone(s.marked)
	if s.marked[s.at] {
		delete(s.marked, s.at)
	} else {
		s.marked[s.at] = true
	}
	return s.move(s.window.Move(1, len(s.rows), page(env)))
}

// Selection is what is marked, else the row of the cursor. What is marked counts
// although a filter hides it, and is named in the summary.
func (s Screen) Selection(screen.Env) screen.Selection {
	if len(s.marked) > 0 {
		refs := slices.Collect(maps.Keys(s.marked))
		slices.SortFunc(refs, cluster.Ref.Compare)
		return screen.Selection{Workloads: refs}
	}
	if len(s.rows) == 0 {
		return screen.Selection{}
	}
	return screen.Selection{Workloads: []cluster.Ref{s.at}}
}

var (
	open    = screen.Binding{Keys: []string{"enter", "right"}, Does: "open", Help: "the rollout of the workload: steps, pods, what it waits for"}
	mark    = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark several, then act on all of them"}
	faults  = screen.Binding{Keys: []string{"f"}, Does: "problems", Help: "only workloads that need attention: paused, degraded, blocked"}
	sortBy  = screen.Binding{Keys: []string{"o"}, Does: "sort", Help: "sort by the next column"}
	reverse = screen.Binding{Keys: []string{"O"}, Does: "reverse", Help: "reverse the order"}
)

var links = screen.Links{
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "describe the object", Minor: true}, Screen: screen.Text, Text: "describe"},
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML", Minor: true}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"D"}, Does: "diff", Help: "what its revisions differ in", Minor: true}, Screen: screen.Diff},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return append([]screen.Binding{open, faults, sortBy, reverse, mark}, links.Keys()...)
}

// Orders are its commands.
func (Screen) Orders() []screen.OrderHelp {
	names := make([]string, len(orders))
	for i, o := range orders {
		names[i] = o.name
	}
	return []screen.OrderHelp{
		{Name: "sort", Help: "sort by a column", Args: names},
		{Name: "faults", Help: "only workloads that need attention, or all again"},
	}
}

func (s Screen) command(env screen.Env, c screen.Order) Screen {
	switch {
	case c.Name == "faults":
		s.faults = !s.faults
	case c.Name == "sort" && len(c.Args) == 1:
		for i, o := range orders {
			if o.name == c.Args[0] {
				s.order = order{by: i}
			}
		}
	}
	return s.refresh(env)
}
