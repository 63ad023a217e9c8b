package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// pace is the least time between two states: no user sees more, and a thousand changes
// a second cost no more than a few.
const pace = 50 * time.Millisecond

// feed is the question that the source is answering. Another want ends it and asks
// again; what still comes of the old one is known by its turn and passed over.
type feed struct {
	want  world.Want
	turn  int
	began bool
	stop  context.CancelFunc
}

// worldMsg is a world, or why there is none.
type worldMsg struct {
	turn  int
	world *world.World
	err   error
}

// nextWorld asks for the next world.
type nextWorld struct{ turn int }

func (f feed) wants(ctx context.Context, s world.Source, want world.Want) (feed, tea.Cmd) {
	if f.stop != nil {
		f.stop()
	}
	ctx, stop := context.WithCancel(ctx)
	f = feed{want: want, turn: f.turn + 1, began: true, stop: stop}
	return f, f.await(ctx, s, 0)
}

func (f feed) await(ctx context.Context, s world.Source, since int64) tea.Cmd {
	return func() tea.Msg {
		w, err := s.Await(ctx, since, f.want)
		return worldMsg{f.turn, w, err}
	}
}

// arrive takes a world over.
func (m Model) arrive(a worldMsg) (Model, tea.Cmd) {
	switch {
	case a.turn != m.feed.turn:
		return m, nil
	case errors.Is(a.err, context.Canceled):
		return m, nil
	case a.err != nil:
		m.err = a.err
		return m, tea.Quit
	}
	news := m.options.Notify.news(m.env.World, a.world)
	m.env.World = a.world
	m = m.fade()
	m, cmd := m.pass(screen.Changed{})
	turn := m.feed.turn
	return m, tea.Batch(news, cmd, tea.Tick(pace, func(time.Time) tea.Msg { return nextWorld{turn} }))
}

// beat is the next picture of what is waited for.
type beat struct{}
