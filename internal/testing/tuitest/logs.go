package tuitest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// logs are lines of containers.
type logs struct {
	mu    sync.Mutex
	lines map[string][]string
	open  int
	told  chan struct{}
}

// Tell adds lines to the log of a container; "NAME previous" is the one before.
func (s *Still) Tell(container string, lines ...string) {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	if s.logs.lines == nil {
		s.logs.lines = map[string][]string{}
	}
	s.logs.lines[container] = append(s.logs.lines[container], lines...)
	s.logs.changed()
}

// changed wakes those who wait; the logs are locked.
func (l *logs) changed() {
	close(l.told)
	l.told = make(chan struct{})
}

// Open waits until just so many logs are open.
func (s *Still) Open(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		s.logs.mu.Lock()
		open, told := s.logs.open, s.logs.told
		s.logs.mu.Unlock()
		if open == n {
			return
		}
		select {
		case <-told:
		case <-limit:
			t.Fatalf("%d logs are open, not %d", open, n)
		}
	}
}

// Logs has the lines of [Still.Tell], and an error where there are none.
func (s *Still) Logs(ctx context.Context, q world.LogQuery) (world.Log, error) {
	name := q.Container
	if q.Previous {
		name += " previous"
	}
	l := &s.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines[name]) == 0 {
		return nil, errors.New("container " + name + " has no log")
	}
	l.open++
	l.changed()
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open--
		l.changed()
	})
	return &tail{ctx: ctx, logs: l, name: name, follow: q.Follow}, nil
}

// tail is an open log.
type tail struct {
	ctx    context.Context
	logs   *logs
	name   string
	follow bool
	read   int
}

// Next is [world.Log].
func (t *tail) Next() ([]string, error) {
	for {
		t.logs.mu.Lock()
		lines, told := t.logs.lines[t.name][t.read:], t.logs.told
		t.read += len(lines)
		t.logs.mu.Unlock()
		switch {
		case len(lines) > 0:
			return lines, nil
		case !t.follow:
			return nil, io.EOF
		}
		select {
		case <-told:
		case <-t.ctx.Done():
			return nil, t.ctx.Err()
		}
	}
}
