package kubectl

import (
	"context"
	"os"
	"testing"
)

// TestHalting: who cancels halts once a signal has come, and not before; by then what
// is below has been let go.
func TestHalting(t *testing.T) {
	halted := 0
	s := make(signals, 1)
	parent, end := context.WithCancel(t.Context())
	above := halting{parent, s, func() { halted++ }}
	_, cancel := context.WithCancel(above)
	cancel()
	if halted != 0 {
		t.Error("halted without a signal")
	}
	below, cancel := context.WithCancel(above)
	s <- os.Interrupt
	end() // what the signal ends, too, comes to no matter
	cancel()
	if halted != 1 || below.Err() == nil {
		t.Errorf("halted %d times, the context below: %v", halted, below.Err())
	}
}

// TestHaltingEnds: what is below ends with what is above.
func TestHaltingEnds(t *testing.T) {
	parent, end := context.WithCancel(t.Context())
	below, cancel := context.WithCancel(halting{parent, make(signals, 1), func() {}})
	defer cancel()
	end()
	<-below.Done()
}
