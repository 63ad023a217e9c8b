package logs

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Draw is whose log it is and where one is in it, what is seen, and why no more comes.
func (s Screen) Draw(env screen.Env) []draw.Line {
	lines := []draw.Line{draw.Both(s.head(), s.page.Place(), env.Width, env.Theme.Symbols.Ellipsis)}
	switch {
	case s.tail == nil && env.World.Of(s.ref) != nil:
		return append(lines, draw.Line{}, draw.Text(theme.Faint, "  "+s.Title()+": the pod does not exist; esc goes back"))
	case s.tail == nil && env.World.Unseen != "":
		return append(lines, env.Waiting(s.Title())...)
	case s.page.Len() == 0 && s.ended == "":
		return append(lines, draw.Line{}, draw.Text(theme.Busy, "  no line yet ..."))
	}
	lines = append(lines, s.page.Draw(env.Theme)...)
	if s.ended == "" {
		return lines
	}
	return append(lines, s.end(env))
}

func (s Screen) end(env screen.Env) draw.Line {
	if s.bad {
		return draw.Text(theme.Bad, " "+env.Theme.Symbols.Stuck+" "+s.ended).Add(theme.Faint, "  r tries again")
	}
	return draw.Text(theme.Faint, " "+env.Theme.Symbols.Dot+" "+s.ended+"  r opens it again")
}

func (s Screen) head() draw.Line {
	l := draw.Text(theme.Header, " container ").Add(theme.Strong, s.container)
	if s.previous {
		l = l.Add(theme.Warn, "  before its last restart")
	}
	switch {
	case s.ended != "" || s.tail == nil:
	case s.page.AtEnd():
		l = l.Add(theme.Good, "  following")
	default:
		l = l.Add(theme.Faint, "  paused here; f follows")
	}
	return l
}
