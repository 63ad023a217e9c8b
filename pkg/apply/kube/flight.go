package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// flights are writes that the server may still carry out: those that are under way, and
// those that ended without an answer. While there are any, the lease is not let go of before
// it runs out: whoever had it next would write beside them.
type flights struct {
	mu    sync.Mutex
	under int
	lost  time.Time
}

var errUnderWay = errors.New("a write is in progress: the lease must expire")

// underLease sends a write by send, which has the time that the lease leaves it.
func (c *Cluster) underLease(ctx context.Context, send func(context.Context) error) error {
	limited, cancel := c.brief(ctx)
	defer cancel()
	c.flights.begin()
	err := send(limited)
	c.flights.end(time.Now(), err == nil || limited.Err() == nil && !errors.Is(err, plan.ErrUnavailable))
	return err
}

func (f *flights) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.under++
}

// end notes the end of a write, and whether the server answered.
func (f *flights) end(now time.Time, answered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.under--; !answered {
		f.lost = now
	}
}

// open reports whether there are any, or were within some time.
func (f *flights) open(now time.Time, within time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.under > 0 || !f.lost.IsZero() && now.Sub(f.lost) < within
}
