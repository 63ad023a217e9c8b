package apply_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// chance decides what goes wrong in a history.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 7))} }

// answer is what a write meets: mostly nothing, sometimes a refusal, and sometimes
// the end of the process, before or after it took effect.
func (c chance) answer(cancel context.CancelFunc) error {
	switch c.IntN(12) {
	case 0:
		return fmt.Errorf("a budget: %w", plan.ErrRefused)
	case 1:
		return fmt.Errorf("429: %w", plan.ErrUnavailable)
	case 2:
		return fmt.Errorf("409: %w", plan.ErrConflict)
	case 3:
		cancel()
		return fmt.Errorf("killed before: %w", plan.ErrUnavailable)
	case 4:
		cancel()
	}
	return nil
}

// kill ends the process while it tells something.
func (c chance) kill(cancel context.CancelFunc) {
	if c.IntN(15) == 0 {
		cancel()
	}
}
