package rollout

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// terminal is as much of one as a screen needs: it moves its cursor up, and clears.
type terminal struct {
	rows [][]rune
	y, x int
}

func (m *terminal) Write(b []byte) (int, error) {
	text := []rune(string(b))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\n':
			m.y, m.x = m.y+1, 0
		case '\r':
			m.x = 0
		case '\x1b':
			end := i + 2
			for text[end] >= '0' && text[end] <= '9' {
				end++
			}
			m.escape(text[end], string(text[i+2:end]))
			i = end
		default:
			m.put(r)
		}
	}
	return len(b), nil
}

func (m *terminal) put(r rune) {
	for len(m.rows) <= m.y {
		m.rows = append(m.rows, nil)
	}
	row := m.rows[m.y]
	for len(row) <= m.x {
		row = append(row, ' ')
	}
	row[m.x] = r
	m.rows[m.y] = row
	m.x++
}

func (m *terminal) escape(what rune, n string) {
	switch what {
	case 'A':
		up, _ := strconv.Atoi(n)
		m.y -= up
	case 'K':
		if m.y < len(m.rows) {
			m.rows[m.y] = m.rows[m.y][:min(m.x, len(m.rows[m.y]))]
		}
	case 'J':
		m.rows = m.rows[:min(m.y, len(m.rows))]
	}
}

func (m *terminal) String() string {
	var out []string
	for _, r := range m.rows {
		out = append(out, strings.TrimRight(string(r), " "))
	}
	return strings.Join(out, "\n")
}

// TestScreen: each picture takes the place of the one before, whatever its size, and
// what stood above stays.
func TestScreen(t *testing.T) {
	m := &terminal{}
	_, _ = m.Write([]byte("plan\n"))
	s := &screen{out: m}
	for _, lines := range [][]string{{"one"}, {"a longer line", "two"}, {"x", "y", "z"}, {"short"}, {}, {"end", "of it"}} {
		s.show(lines, 80)
		if diff := cmp.Diff(strings.Join(append([]string{"plan"}, lines...), "\n"), m.String()); diff != "" {
			t.Errorf("%q: %s", lines, diff)
		}
	}
	written := &bytes.Buffer{}
	s.out = written
	if s.show([]string{"end", "of it"}, 80); written.Len() > 0 {
		t.Errorf("the same picture was drawn again: %q", written)
	}
}

// TestScreenNarrowed: a terminal that was made narrower has broken the lines that
// stood there; all their rows are drawn over.
func TestScreenNarrowed(t *testing.T) {
	s := &screen{out: &bytes.Buffer{}}
	s.show([]string{strings.Repeat("x", 70), "\x1b[31m" + strings.Repeat("y", 20) + "\x1b[0m", ""}, 80)
	if got := s.rows(80); got != 3 {
		t.Errorf("%d rows at 80", got)
	}
	if got := s.rows(30); got != 5 {
		t.Errorf("%d rows at 30", got)
	}
	out := &bytes.Buffer{}
	s.out = out
	s.show([]string{"a"}, 30)
	if !strings.HasPrefix(out.String(), "\x1b[5A\r\x1b[J") {
		t.Errorf("%q", out)
	}
}

func opened(at time.Time) event.Event {
	return event.Event{
		Time: at, Type: event.Opened, Step: -1, Workload: event.Workload{Kind: "CloneSet", Name: "web"}, Counts: &event.Counts{Desired: 1, Total: 1},
		Plan: &event.Plan{Driver: "kruise", Steps: []event.Step{{Name: "update", Updated: 1}}},
	}
}

// TestPicture: what happens is drawn with the next beat, the time every second, and
// the end at once.
func TestPicture(t *testing.T) {
	m := &terminal{}
	p := &picture{live: view.RolloutLive{}, screen: screen{out: m, size: func() (int, int) { return 100, 24 }}}
	begin := time.Now()
	p.Event(opened(begin))
	if m.String() != "" {
		t.Errorf("drawn before its time: %s", m)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "0s so far"}, {500 * time.Millisecond, "0s so far"}, {1200 * time.Millisecond, "1.2s so far"}, {1900 * time.Millisecond, "1.2s so far"}} {
		p.Beat(begin.Add(c.after))
		if !strings.HasSuffix(m.String(), c.want) {
			t.Errorf("after %s:\n%s\nwant %s", c.after, m, c.want)
		}
	}
	p.Event(event.Event{Time: begin.Add(2 * time.Second), Type: event.Ended, Outcome: event.Completed, Counts: &event.Counts{Desired: 1, Total: 1, Ready: 1, Updated: 1, UpdatedReady: 1}})
	if !strings.HasSuffix(m.String(), "completed after 2s") {
		t.Error(m)
	}
}
