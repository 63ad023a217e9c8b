// Package ui drives the terminal interface as a person does: the binary in a terminal,
// on a real API server, with keys in and a screen out.
package ui

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Columns and rows of the terminal.
const (
	columns = 120
	rows    = 40
)

// patience is how long something is waited for; it only ends what would hang.
const patience = 2 * time.Minute

// terminal is a program in a terminal.
type terminal struct {
	cmd  *exec.Cmd
	keys *os.File

	mu     sync.Mutex
	screen *vt.Emulator
	censor
	drawn chan struct{}
	ended chan struct{}
}

// censor knows which texts may never be on a screen, and the screens that had one.
type censor struct{ never, seen []string }

// open starts a program in a terminal; it is ended with the test at the latest.
func open(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	return censor{}.open(t, cmd)
}

// watching is for terminals on which some texts may never be.
func watching(never ...string) censor { return censor{never: never} }

func (w censor) open(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	must(t, err)
	s := &terminal{cmd: cmd, keys: tty, screen: vt.NewEmulator(columns, rows), censor: w, drawn: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.draw()
	go s.answer()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-s.ended
		_ = tty.Close()
		_ = s.screen.Close()
	})
	return s
}

// draw has the terminal show what the program writes.
func (s *terminal) draw() {
	defer close(s.ended)
	buf := make([]byte, 1<<16)
	for {
		n, err := s.keys.Read(buf)
		s.mu.Lock()
		_, _ = s.screen.Write(buf[:n]) // an emulator takes everything
		s.look(s.screen)
		s.mu.Unlock()
		select {
		case s.drawn <- struct{}{}:
		default:
		}
		if err != nil {
			return // the program has ended
		}
	}
}

// look keeps the screen if something is on it that may not be.
func (w *censor) look(screen fmt.Stringer) {
	if len(w.never) == 0 {
		return
	}
	text := screen.String()
	if slices.ContainsFunc(w.never, func(no string) bool { return strings.Contains(text, no) }) {
		w.seen = append(w.seen, text)
	}
}

// leaks are the screens that had what may not be on one.
func (s *terminal) leaks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// answer sends what a terminal says by itself: which colours it has, where its cursor is.
func (s *terminal) answer() {
	buf := make([]byte, 1<<10)
	for {
		n, err := s.screen.Read(buf)
		if err != nil {
			return
		}
		if _, err := s.keys.Write(buf[:n]); err != nil {
			return
		}
	}
}

// text is what the screen shows.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// press types; each text is a key, or several.
func (s *terminal) press(t *testing.T, keys ...string) *terminal {
	t.Helper()
	for _, k := range keys {
		_, err := s.keys.WriteString(k)
		must(t, err)
	}
	return s
}

// The keys that are no letters.
const enter = "\r"

// until waits until all texts stand on the screen at once.
func (s *terminal) until(t *testing.T, texts ...string) *terminal {
	t.Helper()
	return s.shows(t, func(now string) (missing string) {
		for _, text := range texts {
			if !strings.Contains(now, text) {
				missing = text
			}
		}
		return missing
	})
}

// idle waits until the program carries nothing out: before that, leaving asks.
func (s *terminal) idle(t *testing.T) *terminal {
	t.Helper()
	return s.shows(t, func(now string) string {
		if strings.Contains(now, "running 1 rollout") {
			return "the end of what is carried out"
		}
		return ""
	})
}

// shows waits until nothing is missing on the screen.
func (s *terminal) shows(t *testing.T, missing func(now string) string) *terminal {
	t.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		now := s.text()
		what := missing(now)
		if what == "" {
			return s
		}
		select {
		case <-s.drawn:
		case <-s.ended:
			t.Fatalf("the program has ended, and %q is not on the screen:\n%s", what, now)
		case <-end.C:
			t.Fatalf("%q is not on the screen:\n%s", what, now)
		}
	}
}

// leave waits until the program has ended by itself, with a code.
func (s *terminal) leave(t *testing.T, code int) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("the program is still running:\n%s", s.text())
	}
	_ = s.cmd.Wait() // the code says it
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit %d, want %d:\n%s", got, code, s.text())
	}
}
