package kubectl

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
)

// TestHalting_CancelsAfterASignal: who cancels halts once a signal has come, and not before; by then what
// is below has been let go.
func TestHalting_CancelsAfterASignal(t *testing.T) {
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

// TestHalting_EndsWithItsParent: without a signal, a context below ends when the parent
// does, for the parent's reason, and nothing halts; after a signal it does not end.
func TestHalting_EndsWithItsParent(t *testing.T) {
	for name, c := range map[string]struct {
		signal bool
		want   error
	}{
		"no signal":    {false, context.Canceled},
		"after signal": {true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				halted := 0
				s := make(signals, 1)
				parent, end := context.WithCancel(t.Context())
				below, cancel := context.WithCancel(halting{parent, s, func() { halted++ }})
				if c.signal {
					s <- os.Interrupt
				}
				end()
				synctest.Wait()
				if err := below.Err(); !errors.Is(err, c.want) {
					t.Errorf("the context below: %v, want %v", err, c.want)
				}
				if halted != 0 {
					t.Errorf("halted %d times", halted)
				}
				cancel()
			})
		})
	}
}
