package lists

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Distributions is UnitedDeployments and WorkloadSpreads over subsets, ResourceDistributions
// over namespaces, ImagePullJobs over nodes. Of the one of the cursor it shows each place
// against what it should have.
type Distributions struct {
	list
	rows []*world.Distribution
	// known is false until they have arrived.
	known bool
	sizes sizes
	// target is the width that the longest one needs.
	target int
	// inside is true while the keys are about the places and not about the list.
	inside bool
	places draw.Window
}

// NewDistributions is the screen as it opens; an object that is pointed at is the one of the
// cursor.
func NewDistributions(o screen.Open) Distributions { return Distributions{list: list{at: o.Ref}} }

// Title is its breadcrumb.
func (Distributions) Title() string { return "distributions" }

// Want is all distributions.
func (Distributions) Want() world.Want { return world.Want{Distributions: true} }

// Selection is none: nothing of this is rolled out by itself.
func (Distributions) Selection(screen.Env) screen.Selection { return screen.Selection{} }

// Update is the screen after a message.
func (s Distributions) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	seen, below := heights(env)
	if s.inside {
		switch msg := msg.(type) {
		case screen.Wheel:
			s.places = s.places.Move(msg.By, s.count(), below)
			return s, nil
		case tea.KeyPressMsg:
			if w, ok := s.places.Key(msg.String(), s.count(), below); ok {
				s.places = w
				return s, nil
			}
			return s.key(msg.String())
		}
	}
	l, moved := s.after(msg, seen)
	if s = s.to(l); moved {
		_, clicked := msg.(screen.Click)
		s.inside = s.inside && !clicked
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed, screen.Filter:
		return s.refresh(env), nil
	case screen.Click: // on no row of the list
		if i := msg.Y - above - seen - between; i >= 0 && i < below && s.places.Top+i < s.count() {
			s.inside, s.places.At = true, s.places.Top+i
		}
	case tea.KeyPressMsg:
		return s.key(msg.String())
	}
	return s, nil
}

func (s Distributions) key(key string) (screen.Screen, screen.After) {
	switch {
	case turn.Is(key):
		s.inside = !s.inside && s.count() > 0
		return s, nil
	case s.current() == nil:
		return s, nil
	}
	return s, distributionLinks.Open(key, screen.Open{Ref: s.at})
}

// to goes to a row; the places of another one begin at the first.
func (s Distributions) to(l list) Distributions {
	if l.at != s.at {
		s.places, s.inside = draw.Window{}, false
	}
	s.list = l
	return s
}

// current is the one of the cursor, nil without one.
func (s Distributions) current() *world.Distribution {
	if s.window.At >= len(s.rows) {
		return nil
	}
	return s.rows[s.window.At]
}

// count is how many places the one of the cursor has.
func (s Distributions) count() int {
	if f := s.current(); f != nil {
		return len(f.Places)
	}
	return 0
}

var turn = screen.Binding{Keys: []string{"tab", "enter"}, Does: "places", Help: "go through its subsets, namespaces or nodes, or through the list again"}

var distributionLinks = screen.Links{
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML"}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the object in words"}, Screen: screen.Text, Text: "describe"},
}

// Keys are those of this screen.
func (Distributions) Keys() []screen.Binding {
	return append([]screen.Binding{turn}, distributionLinks.Keys()...)
}

// refresh works out the rows, what is most urgent first. The cursor stays where it is.
func (s Distributions) refresh(env screen.Env) Distributions {
	if s.known = env.World.Distributions != nil; !s.known {
		return s
	}
	filter := screen.NewMatch(s.filter)
	s.rows, s.sizes, s.target = nil, sizes{}, 0
	for _, f := range env.World.Distributions.List {
		if filter.Row(nil, f.Name, f.String(), f.Namespace, f.Target, f.Health.String()) {
			s.rows = append(s.rows, f)
			s.sizes.namespace = max(s.sizes.namespace, draw.Width(f.Namespace))
			s.sizes.name = max(s.sizes.name, draw.Width(f.String()))
			s.target = max(s.target, draw.Width(f.Target))
		}
	}
	slices.SortStableFunc(s.rows, func(a, b *world.Distribution) int { return int(b.Health) - int(a.Health) })
	refs := make([]cluster.Ref, len(s.rows))
	for i, f := range s.rows {
		refs[i] = f.Ref
	}
	seen, below := heights(env)
	s = s.to(s.with(refs, seen))
	s.places = s.places.Keep(s.count(), below)
	s.inside = s.inside && s.count() > 0
	return s
}
