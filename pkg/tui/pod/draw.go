package pod

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// Draw is what is seen of the page.
func (s Screen) Draw(env screen.Env) []draw.Line {
	switch {
	case s.pod != nil:
	case s.detail == nil && (env.World.Find(s.Ref) != nil || env.World.Unseen != ""):
		return env.Waiting(s.Title())
	default:
		return env.Missing(s.Title())
	}
	end := min(s.top+env.Height, len(s.lines))
	lines, found := s.found(append([]draw.Line{}, s.lines[s.top:end]...))
	if more := len(s.lines) - end; more > 0 && len(lines) > 1 {
		lines[len(lines)-1] = draw.Text(draw.Faint, fmt.Sprintf("  %s %s", env.Theme.Symbols.Less, counted.Of(more+1, "more line"))).Add(draw.Key, found)
	} else if found != "" {
		lines = append(draw.Exactly(lines, max(env.Height-1, 1)), draw.Text(draw.Key, found))
	}
	return lines
}

// compose makes the page.
func (s Screen) compose(env screen.Env) Screen {
	lines := append(s.head(env), draw.Line{})
	s.first = len(lines) + 1
	lines = append(lines, s.table(env)...)
	lines = append(append(lines, s.troubles(env)...), draw.Line{})
	lines = append(lines, s.causes(env)...)
	lines = append(lines, s.states(env)...)
	lines = append(lines, s.sidecars(env)...)
	lines = append(lines, s.conditions(env)...)
	lines = append(lines, s.events(env)...)
	s.lines = lines
	return s.scroll(env, 0)
}

// head is how the pod is and why, whose it is, and where.
func (s Screen) head(env screen.Env) []draw.Line {
	p := s.pod
	word, style := s.health()
	lines := wrapped(env, draw.Text(style, symbol(env.Theme.Symbols, style)+" "+word+"  "), draw.Plain, s.answer.Answer)
	lines = lines[:min(len(lines), max(env.Height/6, 1))]
	old := "old"
	if s.detail.Updated[p.UID] {
		old = "new"
	}
	where := cmp.Or(p.Node, "no node")
	if n := s.detail.Snapshot.Nodes[p.Node]; n != nil && n.Labels[screen.ZoneLabel] != "" {
		where += ", " + n.Labels[screen.ZoneLabel]
	}
	text := fmt.Sprintf("%s of %s, revision %s; %s; created %s ago, %s", old, s.Ref.String(), cmp.Or(cluster.Hash(p.Revision()), "unknown"), where, screen.Age(env.World.Now, p.Created), p.Phase)
	return append(lines, wrapped(env, draw.Line{}, draw.Faint, text)...)
}

// causes are the blockers of the pod, in the words of `why`.
func (s Screen) causes(env screen.Env) []draw.Line {
	if len(s.answer.Causes) == 0 {
		return nil
	}
	lines := []draw.Line{draw.Heading("BLOCKED BY", "")}
	for _, c := range s.answer.Causes {
		picture, style := env.Theme.Symbols.Dot, draw.Plain
		if c.Blocked {
			picture, style = env.Theme.Symbols.Blocked, draw.Bad
		}
		lines = append(lines, wrapped(env, draw.Text(style, picture+" "), draw.Plain, c.Gate+": "+c.String())...)
		if text := strings.Replace(screen.Remedy(c, env.Hint), "l, then p", "p", 1); text != "" { // p is a key here
			lines = append(lines, wrapped(env, draw.Text(draw.Plain, "  "), draw.Faint, text)...)
		}
	}
	return append(lines, draw.Line{})
}

// health is how the pod is in a word.
func (s Screen) health() (string, draw.Style) {
	_, troubled := diagnose.Troubled(s.pod)
	switch {
	case s.pod.Deleting:
		return "terminating", draw.Faint
	case troubled:
		return "failing", draw.Bad
	case !s.pod.IsReady():
		return "not ready", draw.Busy
	}
	return "ready", draw.Good
}

// wrapped is a text behind the beginning of its first line, broken where there is no
// more room.
func wrapped(env screen.Env, before draw.Line, style draw.Style, text string) []draw.Line {
	indent := min(before.Width(), env.Width/3)
	lines := draw.Wrap(style, text, env.Width-indent-3)
	for i, l := range lines {
		if i > 0 {
			before = draw.Text(draw.Plain, draw.Spaces(indent))
		}
		lines[i] = draw.Text(draw.Plain, "  ").Join(before).Join(l)
	}
	return lines
}
