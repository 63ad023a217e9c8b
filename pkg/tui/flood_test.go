package tui_test

import (
	"fmt"
	"testing"
)

// TestFlood: of thousands of states that come faster than anybody can see, the last
// one is shown.
func TestFlood(t *testing.T) {
	s, still := start(t, two())
	for i := range 5000 {
		w := two()
		w.Workloads[0].Why = fmt.Sprintf("state %d of 5000", i+1)
		still.Show(w)
	}
	s.Until("state 5000 of 5000")
}
