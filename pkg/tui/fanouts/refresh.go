package fanouts

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// refresh works out the rows, what is most urgent first. The cursor stays where it is.
func (s Screen) refresh(env screen.Env) Screen {
	if s.known = env.World.FanOuts != nil; !s.known {
		return s
	}
	filter := match.New(s.filter)
	s.rows, s.sizes = nil, sizes{}
	for _, f := range env.World.FanOuts.List {
		if filter.Row(nil, f.Name, show.Name(f.Ref), f.Namespace, f.Target, f.Health.String()) {
			s.rows = append(s.rows, f)
			s.sizes.namespace = max(s.sizes.namespace, draw.Width(f.Namespace))
			s.sizes.name = max(s.sizes.name, draw.Width(show.Name(f.Ref)))
			s.sizes.target = max(s.sizes.target, draw.Width(f.Target))
		}
	}
	slices.SortStableFunc(s.rows, func(a, b *world.FanOut) int { return int(b.Health) - int(a.Health) })
	list, below := heights(env)
	if i := slices.IndexFunc(s.rows, func(f *world.FanOut) bool { return f.Ref == s.at }); i >= 0 {
		s.window.At = i
	}
	s = s.move(s.window.Keep(len(s.rows), list))
	s.places = s.places.Keep(s.count(), below)
	s.inside = s.inside && s.count() > 0
	return s
}
