package text

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/page"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// answer is the text, or why there is none.
type answer struct {
	turn  *turn
	lines []draw.Line
	err   error
}

// load asks for the text, away from the screen.
func (s Screen) load(env screen.Env) (screen.Screen, screen.After) {
	s.turn, s.at = new(turn), env.World.Now
	if s.state == fresh {
		s.state = loading
	}
	asked := s
	return s, screen.Later(func() tea.Msg {
		lines, err := asked.lines(env)
		return answer{asked.turn, lines, err}
	})
}

func (s Screen) lines(env screen.Env) ([]draw.Line, error) {
	if s.describes() {
		text, err := env.Source.Describe(env.Context, s.object)
		if err != nil {
			return nil, err
		}
		return described(text), nil
	}
	text, err := env.Source.Manifest(env.Context, s.object)
	if err != nil {
		return nil, err
	}
	return manifest(text)
}

// take puts an answer on the page; where one is stays.
func (s Screen) take(a answer) Screen {
	if a.turn != s.turn {
		return s
	}
	s.state, s.err = there, a.err
	if a.err == nil {
		s.page = s.page.Set(a.lines)
	}
	return s
}

var again = screen.Binding{Keys: []string{"r"}, Does: "reload", Help: "ask for it again"}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding { return append([]screen.Binding{again}, page.Keys()...) }

// Draw is a line about the page, and what is seen of it.
func (s Screen) Draw(env screen.Env) []draw.Line {
	switch {
	case s.state != there:
		return []draw.Line{{}, draw.Text(theme.Busy, "  loading "+s.Title()+" ...")}
	case s.err != nil:
		lines := draw.Wrap(theme.Bad, s.err.Error(), env.Width-4)
		for i, l := range lines {
			lines[i] = draw.Text(theme.Plain, "  ").Join(l)
		}
		return append(append([]draw.Line{{}}, lines...), draw.Text(theme.Faint, "  r asks again"))
	}
	head := draw.Text(theme.Header, " "+s.Title()).Add(theme.Faint, "  as of "+s.at.Format("15:04:05"))
	return append([]draw.Line{draw.Both(head, s.page.Place(), env.Width, env.Theme.Symbols.Ellipsis)}, s.page.Draw(env.Theme)...)
}
