package tuitest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Still is a source and a target of actions that a test holds still: it shows what
// [Still.Show] was given last, and remembers what it was told to do.
type Still struct {
	mu      sync.Mutex
	world   *world.World
	changed chan struct{}
	// Texts are manifests and descriptions by name.
	Texts map[string]string
	// Program is the shell, nil for none.
	Program world.Program

	acts []world.Act
	logs logs
}

// NewStill shows a world.
func NewStill(w world.World) *Still {
	s := &Still{changed: make(chan struct{})}
	s.logs.told = make(chan struct{})
	s.Show(w)
	return s
}

// Show shows another world, whatever its version.
func (s *Still) Show(w world.World) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Version = 1
	if s.world != nil {
		w.Version = s.world.Version + 1
	}
	s.world = &w
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await is [world.Source]; it waits for the next Show.
func (s *Still) Await(ctx context.Context, since int64, _ world.Want) (*world.World, error) {
	for {
		s.mu.Lock()
		w, changed := s.world, s.changed
		s.mu.Unlock()
		if w.Version > since {
			return w, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Manifest is one of Texts.
func (s *Still) Manifest(_ context.Context, r cluster.Ref) (string, error) {
	return s.Texts[r.Name], nil
}

// Describe is one of Texts.
func (s *Still) Describe(_ context.Context, r cluster.Ref) (string, error) {
	return s.Texts[r.Name], nil
}

// Effect describes what was asked.
func (s *Still) Effect(_ context.Context, a world.Act) (world.Effect, error) {
	if a.Value == "bad" {
		return world.Effect{}, errors.New("bad is not valid")
	}
	return world.Effect{Lines: []string{fmt.Sprintf("this would %s %d of them", a.Verb, len(a.On))}}, nil
}

// Do remembers the act.
func (s *Still) Do(_ context.Context, a world.Act) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts = append(s.acts, a)
	return fmt.Sprintf("%s: done", a.Verb), nil
}

// Shell is Program.
func (s *Still) Shell(string, string, string) (world.Program, error) {
	if s.Program == nil {
		return nil, errors.New("no shell here")
	}
	return s.Program, nil
}

// Acts are what was done.
func (s *Still) Acts() []world.Act {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts
}

// Golden holds a screen against testdata/NAME-WIDTHxHEIGHT.txt, and in colour against
// the same with .ansi, at all sizes. reach brings a session to the screen and returns
// the frame.
func Golden(t *testing.T, name string, o tui.Options, reach func(s *Session) string) {
	t.Helper()
	for _, size := range Sizes {
		file := fmt.Sprintf("testdata/%s-%dx%d", name, size.Width, size.Height)
		t.Run(file, func(t *testing.T) {
			o.Theme = draw.ThemeOptions{}
			golden.Same(t, file+".txt", Plain(reach(Start(t, o, size))))
			o.Theme.Colors = draw.Many
			golden.Same(t, file+".ansi", reach(Start(t, o, size))+"\n")
		})
	}
}
