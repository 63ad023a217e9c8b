package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
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
	o.makes = func() (action, error) { return aborting("aborted by "+holder(), o.rollback), nil }
	c := &cobra.Command{
		Use: "abort TYPE/NAME", Short: "Abort a rollout, or roll it back",
		Long: `Abort a rollout: no more pods are updated once the command returns, except those
already in progress. The controller is stopped by a field of the workload's spec, which
'rollout retry', 'rollout abort --rollback' and the next rollout restore. With
--rollback the workload returns to the revision that the rollout started from, within
its budgets, and in place where possible.`,
		Example: "  kubectl kruise rollout abort cloneset/web\n  kubectl kruise rollout abort cloneset/web --rollback --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if o.group.name != "" {
				if err := errors.Join(o.pretends.Read(c), o.group.check(args)); err != nil {
					return err
				}
				return o.abortGroup(c.Context())
			}
			args, err := inParts(c.Context(), args, o.inFlight)
			if err != nil {
				return err
			}
			if err := errors.Join(o.pretends.Read(c), o.complete(args)); err != nil {
				return err
			}
			return o.abort(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.factory),
	}
	o.addFlags(c)
	o.pretends.AddFlag(c)
	o.group.addFlag(c)
	o.authority.addTakeOverFlags(c)
	c.Flags().BoolVar(&o.rollback, "rollback", false, "also roll back to the revision before the rollout")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

// abortGroup ends all rollouts of a group, and rolls those back that have begun: the last
// wave first.
func (o *abortOptions) abortGroup(ctx context.Context) error {
	if o.rollback && !o.dry().Only() {
		if err := o.ask(ctx, o.yes, "Roll back all rollouts of group "+o.group.name+"?"); err != nil {
			return err
		}
	}
	o.group.marks = abortsGroup(o.rollback)
	return o.onGroup(ctx, o.rollback)
}

func (o *abortOptions) abort(ctx context.Context) error {
	why := "aborted by " + holder()
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

// aborting ends a rollout; one that is done only where its work is taken back.
func aborting(why string, back bool) action {
	return action{do: apply.Aborting(why, back), said: func(r plan.Record) string { return r.Describe() }}
}

// back carries out the way back.
func (o *abortOptions) back(ctx context.Context, why string) error {
	rollouts, err := o.rollouts()
	if err != nil {
		return err
	}
	s, err := o.open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Allow(o.authority.asks)
	e, err := rollouts.Back(ctx, s, why)
	if err != nil {
		return hinted(err)
	}
	if p := e.Plan(); len(p.Steps) == 0 {
		e.Release()
		_, err := fmt.Fprintln(o.factory.Streams.Out, "nothing to roll back: "+p.Change.Why)
		return err
	}
	res, err := o.carryOut(ctx, e)
	if err == nil && res.Outcome != event.RolledBack {
		err = o.end(res)
	}
	return err
}
