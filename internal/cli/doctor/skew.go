package doctor

import (
	"context"
	"time"
)

// clockTolerance is from when on clocks differ in a way that leases and deadlines feel.
const clockTolerance = 5 * time.Second

// skew compares the clocks. The server tells whole seconds, so it may be right and differ
// by one.
func (p *examined) skew(ctx context.Context) verdictLine {
	before := p.now()
	there, err := p.clock(ctx)
	if err != nil {
		return warned("clock", "", "the server does not tell the time: %v", err)
	}
	here := before.Add(p.now().Sub(before) / 2)
	off := here.Sub(there.Add(time.Second / 2)).Abs()
	if off < clockTolerance {
		return passed("clock", "agrees with the server's")
	}
	return warned("clock", "set the clock: ages, deadlines and timeouts are wrong by as much", "differs from the server's by %s", off.Round(time.Second))
}
