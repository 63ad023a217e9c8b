package draw_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// TestStepsAround_HasTheCurrentStep: as many steps as have room, the current one always among them.
func TestStepsAround_HasTheCurrentStep(t *testing.T) {
	for n := 1; n < 8; n++ {
		for current := range n {
			for room := range n + 3 {
				from, to := draw.StepsAround(n, current, room)
				if from < 0 || to > n || to-from != min(room, n) || room > 0 && (current < from || current >= to) {
					t.Errorf("step %d of %d with room for %d: %d to %d", current, n, room, from, to)
				}
			}
		}
	}
	if from, to := draw.StepsAround(9, 4, 3); from != 3 || to != 6 {
		t.Errorf("%d to %d, want one step before the current one", from, to)
	}
}
