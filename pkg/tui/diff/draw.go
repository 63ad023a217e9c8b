package diff

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Draw is which revisions are compared, and what they differ in.
func (s Screen) Draw(env screen.Env) []draw.Line {
	from, to, ok := s.pair()
	if !ok {
		return s.nothing(env)
	}
	return append([]draw.Line{
		draw.Both(s.revision("from", theme.Removed, "-", s.past[from]), s.page.Place(), env.Width, env.Theme.Symbols.Ellipsis),
		s.revision("to", theme.Added, "+", s.past[to]),
	}, s.page.Draw(env.Theme)...)
}

func (s Screen) nothing(env screen.Env) []draw.Line {
	name := show.Name(s.ref)
	text := name + " does not exist; esc goes back"
	switch {
	case len(s.past) > 0:
		text = "only one revision of " + name + " is recorded: there is nothing to compare it with"
	case s.detail != nil:
		text = "no revision of " + name + " is recorded"
	case env.World.Find(s.ref) != nil || env.World.Unseen != "":
		return env.Waiting("the revisions of " + name)
	}
	return []draw.Line{{}, draw.Text(theme.Faint, "  "+text)}
}

// revision is one side. Pods do not carry a SidecarSet's revision as their own.
func (s Screen) revision(side string, style theme.Style, sign string, p plan.Revision) draw.Line {
	l := draw.Text(style, fmt.Sprintf(" %s %-4s ", sign, side)).
		Add(theme.Strong, fmt.Sprintf("revision %d", p.Number)).
		Add(theme.Faint, "  "+p.Name+"  ")
	if s.ref.Kind != kruise.KindSidecarSet {
		l = l.Add(theme.Plain, counted.Of(p.Pods, "pod"))
	}
	if p.Present {
		l = l.Add(theme.Good, "  present")
	}
	return l
}
