package tui_test

import (
	"fmt"
	"testing"
)

// TestFeed_ShowsTheLastOfManyStates sends thousands of states faster than they can be drawn.
func TestFeed_ShowsTheLastOfManyStates(t *testing.T) {
	s, still := start(t, two())
	for i := range 5000 {
		w := two()
		w.Workloads[0].Why = fmt.Sprintf("state %d of 5000", i+1)
		still.Show(w)
	}
	s.Until("state 5000 of 5000")
}
