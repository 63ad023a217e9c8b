package apply

import (
	"context"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Act is what a user decides about the recorded rollout of a workload.
type Act struct {
	Transition Transition
	// Continues has the caller carry out what is left then, unless another process does.
	Continues bool
}

// Done is what became of an [Act].
type Done struct {
	Record plan.Record
	// Executor and Workload are what the caller carries out, and closes then; nil where another process
	// does that, or may: Elsewhere is the reason. It is nil for an act after which nothing is carried
	// out, wraps plan.ErrOtherExecutor, or is a *DeniedError.
	Executor  *Executor
	Workload  Workload
	Elsewhere error
}

// Do has the recorded rollout of a workload make a transition. A process that drives the rollout has
// the say, and follows at once. Where none does, this one takes the rollout over first: the record
// stays as it is where that is refused for the rollout's sake. Who may decide and not carry out only
// changes the record.
func (r Rollouts) Do(ctx context.Context, ref cluster.Ref, a Act) (Done, error) {
	if a.Continues {
		if by, err := r.Holder(ctx, ref); err != nil || by == "" {
			d, err := r.take(ctx, ref, func(w Workload) (*Executor, plan.Record, error) { return r.Transit(ctx, w, a.Transition) })
			if err != nil || d.Executor != nil {
				return d, err
			}
			d.Record, err = r.Change(ctx, ref, a.Transition)
			return d, err
		}
	}
	rec, err := r.Change(ctx, ref, a.Transition)
	if err != nil || !a.Continues {
		return Done{Record: rec}, err
	}
	d, err := r.take(ctx, ref, func(w Workload) (*Executor, plan.Record, error) {
		e, err := r.Continue(ctx, w)
		return e, rec, err
	})
	d.Record = rec
	return d, err
}

// take opens a workload, and takes its rollout over by a function; where another process has it, or
// this one may not, that is no error.
func (r Rollouts) take(ctx context.Context, ref cluster.Ref, by func(Workload) (*Executor, plan.Record, error)) (d Done, err error) {
	if d.Workload, err = r.Open(ctx, ref); err == nil {
		if d.Executor, d.Record, err = by(d.Workload); err == nil {
			return d, nil
		}
		d.Workload.Close()
	}
	d.Executor, d.Workload = nil, nil
	if _, denied := errors.AsType[*DeniedError](err); denied || errors.Is(err, plan.ErrOtherExecutor) {
		d.Elsewhere, err = err, nil
	}
	return d, err
}
