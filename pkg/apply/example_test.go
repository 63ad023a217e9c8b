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
		done, err := rollouts.Do(ctx, ref, apply.Act{Transition: plan.TransitionPromote, Continues: true})
		if refused, ok := errors.AsType[*plan.TransitionError](err); ok {
			return fmt.Errorf("%w; %s", refused, refused.Hint)
		}
		if err != nil {
			return err
		}
		fmt.Println("promoted:", done.Record.Describe())
		if done.Executor == nil {
			return done.Elsewhere // another process carries it out, or this one may not
		}
		defer done.Workload.Close()
		res, err := done.Executor.Run(apply.Options{Until: time.Now().Add(time.Hour)})
		if err != nil || res.Outcome != event.Failed {
			return err
		}
		back, err := rollouts.Rollback(ctx, done.Workload, res.Reason)
		if err != nil {
			return err
		}
		_, err = back.Run(apply.Options{})
		return err
	}
	_ = promote
}
