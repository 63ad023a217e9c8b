package pages

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// tail is one log that was asked for; another choice ends it. Messages of one that has
// ended are passed over.
type tail struct {
	stop context.CancelFunc
	log  world.Log
}

// logMsg is a log that lines can be read from.
type logMsg struct {
	tail *tail
	log  world.Log
	err  error
}

// chunk are lines that have come.
type chunk struct {
	tail  *tail
	lines []string
	err   error
}

// readMore asks for more lines.
type readMore struct{ tail *tail }

// pace is the least time between two reads: no user sees more, and a log that is written
// without end costs no more than a few frames.
const pace = 50 * time.Millisecond

// before is how many lines there are at first.
const before = 2000

// open asks for the log that is chosen, from an empty page.
func (s Log) open(env screen.Env) (Log, screen.After) {
	s.tail.end()
	ctx, stop := context.WithCancel(env.Context)
	s.tail, s.ended, s.bad = &tail{stop: stop}, "", false
	s.Page = Following().Size(env.Width, s.room(env)).like(s.Page)
	q := world.LogQuery{
		Namespace: s.pod.Namespace, Pod: s.pod.Name, Container: s.container,
		Previous: s.previous, Follow: !s.previous, Tail: before,
	}
	t, source := s.tail, env.Source
	return s, screen.Later(func() tea.Msg {
		log, err := source.Logs(ctx, q)
		return logMsg{t, log, err}
	})
}

func (t *tail) end() {
	if t != nil {
		t.stop()
	}
}

// next waits for lines, where the one that asks is still the present one.
func (t *tail) next(asks *tail) screen.After {
	if t != asks || t == nil {
		return nil
	}
	return screen.Later(func() tea.Msg {
		lines, err := t.log.Next()
		return chunk{t, lines, err}
	})
}

// take puts lines on the page.
func (s Log) take(c chunk) (Log, screen.After) {
	if c.tail != s.tail {
		return s, nil
	}
	lines := make([]draw.Line, len(c.lines))
	for i, text := range c.lines {
		lines[i] = draw.Text(draw.Plain, text)
	}
	s.Page = s.Add(lines...)
	switch {
	case errors.Is(c.err, io.EOF):
		s.ended = "the log ends here"
		return s, nil
	case c.err != nil:
		s.ended, s.bad = c.err.Error(), true
		return s, nil
	}
	return s, screen.Later(tea.Tick(pace, func(time.Time) tea.Msg { return readMore{c.tail} }))
}
