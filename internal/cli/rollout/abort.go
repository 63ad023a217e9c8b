package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/complete"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

type abortOptions struct {
	control

	rollback bool
	yes      bool
}

func newAbort(shared *common) *cobra.Command {
	o := &abortOptions{}
	o.common = shared
	c := &cobra.Command{
		Use: "abort TYPE/NAME", Short: "End a rollout where it stands, or take it back",
		Long: `End a rollout: no further step is taken, pods stay as they are. With --rollback
the workload goes back to the template that the rollout started from, within its
budgets and in place where that is possible.`,
		Example: "  kubectl kruise rollout abort cloneset/web\n  kubectl kruise rollout abort cloneset/web --rollback --yes",
		RunE: func(c *cobra.Command, args []string) error {
			args, err := inParts(c.Context(), args, o.inFlight)
			if err != nil {
				return err
			}
			if err := errors.Join(o.pretends.Read(c), o.complete(args)); err != nil {
				return err
			}
			return o.abort(c.Context())
		},
		ValidArgsFunction: complete.Names(shared.factory),
	}
	o.addFlags(c)
	o.pretends.AddFlag(c)
	c.Flags().BoolVar(&o.rollback, "rollback", false, "also go back to the template before the rollout")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

func (o *abortOptions) abort(ctx context.Context) error {
	why := "aborted by " + holder()
	o.change = aborted(why, o.rollback)
	if o.dry().Only() {
		return o.pretendBack(ctx, why)
	}
	if o.rollback {
		if err := o.ask(ctx, o.yes, "Take the rollout of "+o.name.String()+" back?"); err != nil {
			return err
		}
	}
	if err := o.run(ctx); err != nil || !o.rollback {
		return err
	}
	return o.back(ctx, why)
}

// aborted ends a rollout; one that is done only where its work is taken back.
func aborted(why string, back bool) func(*kube.Record) (string, error) {
	return func(r *kube.Record) (string, error) {
		if !r.Progress.Finished.IsZero() && !back {
			return "", errors.New("the rollout is done: 'rollout undo' goes back to an older revision")
		}
		if r.Progress.Halted == "" {
			r.Progress.Halted = why
		}
		return "aborted: " + stands(*r), nil
	}
}

// back carries out the way back.
func (o *abortOptions) back(ctx context.Context, why string) error {
	s, err := o.open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	rec, err := s.Rollout()
	if err != nil {
		return err
	}
	held, release, err := o.hold(ctx, s, rec.Plan)
	if err != nil {
		return err
	}
	defer release()
	if rec, err = s.Rollout(); err != nil {
		return err
	}
	back, _, err := wayBack(held, s, rec, why)
	if err != nil {
		return err
	}
	if len(back.Steps) == 0 {
		_, err := fmt.Fprintln(o.factory.Streams.Out, "nothing to take back: "+back.Change.Why)
		return err
	}
	if err := s.Begin(held, s.target.Ref, back); err != nil {
		return err
	}
	res, err := o.carryOut(held, s, back)
	if err == nil && res.Outcome != event.RolledBack {
		err = o.end(res)
	}
	return err
}

// wayBack is the plan that takes a rollout back from where it stands.
func wayBack(ctx context.Context, s *session, rec kube.Record, why string) (plan.Plan, plan.Snapshot, error) {
	from, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return plan.Plan{}, from, err
	}
	back, err := plan.Back(rec.Plan, from, why)
	return back, from, err
}
