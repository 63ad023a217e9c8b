// Package tuitest runs the terminal interface in tests: keys in, frames out. It waits
// for what should be seen, never for a time.
package tuitest

import (
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
)

// Session is an interface that runs.
type Session struct {
	t  *testing.T
	tm *teatest.TestModel

	mu    sync.Mutex
	frame string
	drawn chan struct{}
}

// Size is that of a terminal.
type Size struct{ Width, Height int }

// Sizes are the smallest, a usual and the largest one.
var Sizes = []Size{{60, 15}, {120, 40}, {300, 80}}

// Start runs an interface on a terminal of a size; it ends with the test.
func Start(t *testing.T, o tui.Options, size Size) *Session {
	t.Helper()
	o.Fixed = true
	if o.After == nil { // a question answers at once, after it has been drawn
		o.After = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	}
	s := &Session{t: t, drawn: make(chan struct{})}
	s.tm = teatest.NewTestModel(t, probe{tui.New(t.Context(), o), s}, teatest.WithInitialTermSize(size.Width, size.Height))
	t.Cleanup(func() { _ = s.tm.Quit() })
	return s
}

// probe keeps each frame.
type probe struct {
	tea.Model
	session *Session
}

func (p probe) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := p.Model.Update(msg)
	return probe{m, p.session}, cmd
}

func (p probe) View() tea.View {
	v := p.Model.View()
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = v.Content
	close(s.drawn)
	s.drawn = make(chan struct{})
	return v
}

// Press sends keys, one after the other: "a", "enter", "ctrl+c", "space".
func (s *Session) Press(keys ...string) *Session {
	for _, k := range keys {
		s.tm.Send(key(k))
	}
	return s
}

// Type sends each letter of a text.
func (s *Session) Type(text string) *Session {
	for _, r := range text {
		s.Press(string(r))
	}
	return s
}

// Send sends any message.
func (s *Session) Send(msg tea.Msg) { s.tm.Send(msg) }

// patience is how long something may take on a machine that is busy.
const patience = 8 * time.Second

// Until returns the first frame that has all of the texts, with its escapes.
func (s *Session) Until(texts ...string) string {
	s.t.Helper()
	return s.wait("has "+strings.Join(texts, ", "), func(frame string) bool {
		for _, text := range texts {
			if !strings.Contains(frame, text) {
				return false
			}
		}
		return true
	})
}

// Gone returns the first frame that does not have a text.
func (s *Session) Gone(text string) string {
	s.t.Helper()
	return s.wait("is without "+text, func(frame string) bool { return frame != "" && !strings.Contains(frame, text) })
}

func (s *Session) wait(what string, ok func(plain string) bool) string {
	s.t.Helper()
	limit := time.After(patience)
	for {
		s.mu.Lock()
		frame, drawn := s.frame, s.drawn
		s.mu.Unlock()
		if ok(Plain(frame)) {
			return frame
		}
		select {
		case <-drawn:
		case <-limit:
			s.t.Fatalf("no frame %s; the last one:\n%s", what, Plain(frame))
		}
	}
}

// Ended waits until the interface has been left.
func (s *Session) Ended() {
	s.t.Helper()
	s.tm.WaitFinished(s.t, teatest.WithFinalTimeout(patience))
}

// Plain is a frame without escapes and without spaces at the ends of lines.
func Plain(frame string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(ansi.Strip(frame), "\n") {
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// OfSize returns the first frame with just so many lines and columns.
func (s *Session) OfSize(size Size) string {
	s.t.Helper()
	var whole string
	s.wait("of the size", func(string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		whole = s.frame
		lines := strings.Split(whole, "\n")
		for _, l := range lines {
			if ansi.StringWidth(l) != size.Width {
				return false
			}
		}
		return len(lines) == size.Height
	})
	return whole
}
