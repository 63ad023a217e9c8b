package standin

import (
	"context"
	"errors"
)

// run starts all controllers.
func (s *standIns) run(ctx context.Context) error {
	var errs []error
	for _, start := range []func(context.Context) error{
		s.workloads, s.budgets, s.readiness, s.uniteds, s.distributions, s.recreates, s.nodeImages, s.pulls,
	} {
		errs = append(errs, start(ctx))
	}
	return errors.Join(errs...)
}
