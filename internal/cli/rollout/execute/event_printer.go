package execute

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// reader takes events in and shows them. Beat is called again and again, so that it
// can show that time goes by.
type reader interface {
	Event(e event.Event)
	Beat(now time.Time)
}

// eventPrinter hands events to a reader; a sign of life comes when none do.
type eventPrinter struct {
	mu     sync.Mutex
	reader reader
	ticker *time.Ticker
	over   chan struct{}
	gone   sync.WaitGroup
}

// How often a reader is asked to show that time goes by: a picture at most ten times
// a second.
const (
	lineBeat    = time.Second
	pictureBeat = 100 * time.Millisecond
)

// EventPrinter shows a picture on a terminal, and lines or JSON to a pipe. approve is the command that
// approves a step of the rollout; "" for none.
func (d *Execution) EventPrinter(approve string) *eventPrinter {
	f := d.Factory
	if d.AtPause {
		approve = "" // it ends there, with a hint
	}
	switch {
	case d.Machine():
		return newEventPrinter(&jsonLines{json.NewEncoder(f.Streams.Out)}, lineBeat)
	case f.Redraws() && !d.Printer.Object():
		return newEventPrinter(&picture{
			live:   view.RolloutLive{Style: f.OutStyle(false), Approve: approve},
			screen: screen{out: text.Unwrap(f.Streams.Out), size: f.Streams.Size},
		}, pictureBeat)
	}
	return newEventPrinter(&view.RolloutLines{Out: d.EventsTo(), Style: f.OutStyle(false), Approve: approve}, lineBeat)
}

func newEventPrinter(r reader, every time.Duration) *eventPrinter {
	t := &eventPrinter{reader: r, ticker: time.NewTicker(every), over: make(chan struct{})}
	t.gone.Go(t.beat)
	return t
}

func (t *eventPrinter) Event(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reader.Event(e)
}

func (t *eventPrinter) beat() {
	for {
		select {
		case <-t.over:
			return
		case now := <-t.ticker.C:
			t.mu.Lock()
			t.reader.Beat(now)
			t.mu.Unlock()
		}
	}
}

// Stop ends the signs of life; nothing is shown after it.
func (t *eventPrinter) Stop() {
	t.ticker.Stop()
	close(t.over)
	t.gone.Wait()
}

// jsonLines is one event a line.
type jsonLines struct{ to *json.Encoder }

func (j *jsonLines) Event(e event.Event) { _ = j.to.Encode(e) } // a reader that has gone is no matter to the rollout

func (j *jsonLines) Beat(time.Time) {}

// picture shows a rollout on a terminal, drawn again in its place. The last one stays
// where everything else was printed before.
type picture struct {
	live   view.RolloutLive
	screen screen
	// changed is whether something has happened since the last drawing.
	changed bool
	drawn   time.Time
}

// Event takes an event in; the end is drawn at once.
func (p *picture) Event(e event.Event) {
	p.live.Event(e)
	p.changed = true
	if e.Type == event.Ended {
		p.draw(e.Time)
	}
}

// Beat draws what has changed, and the time every second.
func (p *picture) Beat(now time.Time) {
	if p.changed || now.Sub(p.drawn) >= time.Second {
		p.draw(now)
	}
}

func (p *picture) draw(now time.Time) {
	columns, rows := p.screen.size()
	p.screen.show(p.live.Frame(now, columns, rows), columns)
	p.changed, p.drawn = false, now
}

// screen draws lines over those that it drew before. It needs no more of a terminal
// than to move the cursor up and to clear, and leaves it as it was.
type screen struct {
	out  io.Writer
	size func() (columns, rows int)
	// last are the lines on the screen, in columns as they were then.
	last    []string
	columns int
}

// show draws in one write, line by line over what is there, so that nothing
// flickers.
func (s *screen) show(lines []string, columns int) {
	if slices.Equal(lines, s.last) && columns == s.columns {
		return
	}
	var b strings.Builder
	if up := s.rows(columns); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", up)
	}
	if columns != s.columns {
		b.WriteString("\x1b[J") // lines that the terminal has wrapped again leave rests
	}
	for _, line := range lines {
		b.WriteString(text.Painted(line) + "\x1b[K\n")
	}
	if len(lines) < len(s.last) {
		b.WriteString("\x1b[J")
	}
	_, _ = io.WriteString(s.out, b.String()) // a terminal that has gone is no matter to the rollout
	s.last, s.columns = lines, columns
}

// rows is how many rows the last lines take in a terminal of so many columns: one
// that has become narrower has broken them.
func (s *screen) rows(columns int) int {
	n := 0
	for _, line := range s.last {
		n++
		if columns > 0 {
			n += max(view.Columns(line)-1, 0) / columns
		}
	}
	return n
}
