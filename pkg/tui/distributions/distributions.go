// Package distributions is the screen of distributions: UnitedDeployments and
// WorkloadSpreads over subsets, ResourceDistributions over namespaces, ImagePullJobs
// over nodes. Of the one of the cursor it shows each place against what it should have.
package distributions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is the list, and the places of one of it.
type Screen struct {
	rows []*world.Distribution
	// known is false until they have arrived.
	known bool
	sizes sizes

	filter string
	window draw.Window
	at     cluster.Ref
	// inside is true while the keys are about the places and not about the list.
	inside bool
	places draw.Window
}

// sizes are the widths that the longest names need.
type sizes struct{ namespace, name, target int }

// New is the screen as it opens; an object that is pointed at is the one of the cursor.
func New(o screen.Open) Screen { return Screen{at: o.Ref} }

// Title is its breadcrumb.
func (Screen) Title() string { return "distributions" }

// Want is all distributions.
func (Screen) Want() world.Want { return world.Want{Distributions: true} }

// Filtered is the filter.
func (s Screen) Filtered() string { return s.filter }

// Selection is none: nothing of this is rolled out by itself.
func (Screen) Selection(screen.Env) screen.Selection { return screen.Selection{} }

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env), nil
	case screen.Filter:
		s.filter = msg.Text
		return s.refresh(env), nil
	case screen.Wheel:
		list, below := heights(env)
		if !s.inside {
			return s.move(s.window.Move(msg.By, len(s.rows), list)), nil
		}
		s.places = s.places.Move(msg.By, s.count(), below)
		return s, nil
	case screen.Click:
		return s.click(env, msg), nil
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	list, below := heights(env)
	if s.inside {
		if w, ok := s.places.Key(key, s.count(), below); ok {
			s.places = w
			return s, nil
		}
	} else if w, ok := s.window.Key(key, len(s.rows), list); ok {
		return s.move(w), nil
	}
	switch {
	case turn.Is(key):
		s.inside = !s.inside && s.count() > 0
		return s, nil
	case s.current() == nil:
		return s, nil
	}
	return s, links.Open(key, screen.Open{Ref: s.at})
}

// move goes to another row; its places begin at the first.
func (s Screen) move(w draw.Window) Screen {
	s.window = w
	if w.At < len(s.rows) && s.rows[w.At].Ref != s.at {
		s.at, s.places, s.inside = s.rows[w.At].Ref, draw.Window{}, false
	}
	return s
}

// click goes to a row, or to a place.
func (s Screen) click(env screen.Env, c screen.Click) Screen {
	list, below := heights(env)
	if i := c.Y - above; i >= 0 && i < list && s.window.Top+i < len(s.rows) {
		s = s.move(s.window.Move(s.window.Top+i-s.window.At, len(s.rows), list))
		s.inside = false
		return s
	}
	if i := c.Y - above - list - between; i >= 0 && i < below && s.places.Top+i < s.count() {
		s.inside, s.places.At = true, s.places.Top+i
	}
	return s
}

// current is the one of the cursor, nil without one.
func (s Screen) current() *world.Distribution {
	if s.window.At >= len(s.rows) {
		return nil
	}
	return s.rows[s.window.At]
}

// count is how many places the one of the cursor has.
func (s Screen) count() int {
	if f := s.current(); f != nil {
		return len(f.Places)
	}
	return 0
}

var turn = screen.Binding{Keys: []string{"tab", "enter"}, Does: "places", Help: "go through its subsets, namespaces or nodes, or through the list again"}

var links = screen.Links{
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML"}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the object in words"}, Screen: screen.Text, Text: "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding { return append([]screen.Binding{turn}, links.Keys()...) }

// refresh works out the rows, what is most urgent first. The cursor stays where it is.
func (s Screen) refresh(env screen.Env) Screen {
	if s.known = env.World.Distributions != nil; !s.known {
		return s
	}
	filter := match.New(s.filter)
	s.rows, s.sizes = nil, sizes{}
	for _, f := range env.World.Distributions.List {
		if filter.Row(nil, f.Name, f.String(), f.Namespace, f.Target, f.Health.String()) {
			s.rows = append(s.rows, f)
			s.sizes.namespace = max(s.sizes.namespace, draw.Width(f.Namespace))
			s.sizes.name = max(s.sizes.name, draw.Width(f.String()))
			s.sizes.target = max(s.sizes.target, draw.Width(f.Target))
		}
	}
	slices.SortStableFunc(s.rows, func(a, b *world.Distribution) int { return int(b.Health) - int(a.Health) })
	list, below := heights(env)
	if i := slices.IndexFunc(s.rows, func(f *world.Distribution) bool { return f.Ref == s.at }); i >= 0 {
		s.window.At = i
	}
	s = s.move(s.window.Keep(len(s.rows), list))
	s.places = s.places.Keep(s.count(), below)
	s.inside = s.inside && s.count() > 0
	return s
}
