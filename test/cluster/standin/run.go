package standin

import (
	"context"
	"errors"
)

// run starts all controllers.
func (s *standIns) run(ctx context.Context) error {
	return errors.Join(s.workloads(ctx), s.budgets(ctx), s.readiness(ctx))
}
