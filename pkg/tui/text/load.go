package text

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/page"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// answer is the text, or why there is none.
type answer struct {
	turn  *turn
	at    time.Time
	lines []draw.Line
	err   error
}

// load asks for the text, away from the screen.
func (s Screen) load(env screen.Env) (screen.Screen, screen.After) {
	s.turn, s.again = new(turn), s.state == there
	if s.state == fresh {
		s.state = loading
	}
	from, at := s, env.World.Now
	return s, screen.Later(func() tea.Msg {
		lines, err := from.lines(env)
		return answer{from.turn, at, lines, err}
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
	s.state, s.at, s.again, s.err = there, a.at, false, a.err
	if a.err == nil {
		s.Page = s.Set(a.lines)
	}
	return s
}

var again = screen.Binding{Keys: []string{"r"}, Does: "reload", Help: "ask for it again"}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding { return append([]screen.Binding{again}, page.Keys()...) }

// asking reports that what is seen is from for again.
func (s Screen) asking() draw.Line {
	if !s.again {
		return draw.Line{}
	}
	return draw.Text(theme.Busy, "  loading again ...")
}

// Draw is a line about the page, and what is seen of it.
func (s Screen) Draw(env screen.Env) []draw.Line {
	switch {
	case s.state != there:
		return []draw.Line{{}, draw.Text(theme.Busy, "  loading "+s.Title()+" ...")}
	case s.err != nil:
		lines := draw.Indented(2, theme.Bad, s.err.Error(), env.Width-4)
		return append(append([]draw.Line{{}}, lines...), draw.Text(theme.Faint, "  r asks again").Join(s.asking()))
	}
	head := draw.Text(theme.Header, " "+s.Title()).Add(theme.Faint, "  as of "+s.at.Format("15:04:05")).Join(s.asking())
	return append([]draw.Line{draw.Both(head, s.Place(), env.Width, env.Theme.Symbols.Ellipsis)}, s.Page.Draw(env.Theme)...)
}
