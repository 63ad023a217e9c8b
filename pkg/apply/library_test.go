package apply_test

import (
	"context"

	shared "github.com/kubectl-kruise/kubectl-kruise/internal/testing/library"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// library has each act on a rollout in a call, too.
type library struct{ shared.Rollouts }

func (l library) act(ctx context.Context, ref cluster.Ref, a apply.Act) (plan.Record, error) {
	d, err := l.Do(ctx, ref, a)
	return d.Record, err
}

func (l library) Promote(ctx context.Context, ref cluster.Ref, how plan.Promotion) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionPromote, How: how})
}

func (l library) Pause(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionPause})
}

func (l library) Resume(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionResume})
}

func (l library) Retry(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionRetry})
}

func (l library) Abort(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return l.act(ctx, ref, apply.Act{Transition: plan.TransitionAbort})
}
