package rollout

import (
	"encoding/json"
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

// teller hands events to a reader; a sign of life comes when none do.
type teller struct {
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

// teller shows a picture on a terminal, and lines or JSON to a pipe.
func (d *driving) teller() *teller {
	f := d.factory
	switch {
	case d.machine():
		return newTeller(&jsonLines{json.NewEncoder(f.Streams.Out)}, lineBeat)
	case f.Redraws() && !d.print.object():
		return newTeller(&picture{
			live:   view.RolloutLive{Style: f.OutStyle(false)},
			screen: screen{out: text.Unwrap(f.Streams.Out), size: f.Streams.Size},
		}, pictureBeat)
	}
	return newTeller(&view.RolloutLines{Out: d.eventsTo(), Style: f.OutStyle(false)}, lineBeat)
}

func newTeller(r reader, every time.Duration) *teller {
	t := &teller{reader: r, ticker: time.NewTicker(every), over: make(chan struct{})}
	t.gone.Go(t.beat)
	return t
}

func (t *teller) event(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reader.Event(e)
}

func (t *teller) beat() {
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

// stop ends the signs of life; nothing is shown after it.
func (t *teller) stop() {
	t.ticker.Stop()
	close(t.over)
	t.gone.Wait()
}

// jsonLines is one event a line.
type jsonLines struct{ to *json.Encoder }

func (j *jsonLines) Event(e event.Event) { _ = j.to.Encode(e) } // a reader that has gone is no matter to the rollout

func (j *jsonLines) Beat(time.Time) {}
