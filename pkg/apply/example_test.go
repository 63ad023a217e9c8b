package apply_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// A program promotes a rollout that waits for it, drives what is left, and takes the
// rollout back where that fails. On a cluster, kube.Rollouts returns the rollouts.
func ExampleRollouts() {
	promote := func(ctx context.Context, rollouts apply.Rollouts, ref cluster.Ref) error {
		rec, err := rollouts.Promote(ctx, ref, plan.Promotion{})
		if refused, ok := errors.AsType[*plan.TransitionError](err); ok {
			return fmt.Errorf("%w; %s", refused, refused.Hint)
		}
		if err != nil {
			return err
		}
		fmt.Println("promoted:", rec.Describe())
		res, err := rollouts.Drive(ctx, ref, apply.Options{Until: time.Now().Add(time.Hour)})
		if err != nil || res.Outcome != event.Failed {
			return err
		}
		_, err = rollouts.RollBack(ctx, ref, apply.Options{})
		return err
	}
	_ = promote
}
