package rollout

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ending"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

type statusOptions struct {
	driving

	name  named.Name
	watch bool
}

func newStatus(shared *common) *cobra.Command {
	o := &statusOptions{driving: driving{common: shared}}
	c := &cobra.Command{
		Use: "status TYPE/NAME", Short: "Say how a rollout stands, and what it waits for",
		Long: `Say how a rollout stands, and what it waits for. Of a workload that no rollout of
ours is on record for, it says whether its controller has come to where the spec
wants it. Nothing is written.`,
		Example: "  kubectl kruise rollout status cloneset/web\n  kubectl kruise rollout status cloneset/web --watch --timeout 10m",
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: planning.CompleteNames,
	}
	o.addFlags(c)
	c.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on until the rollout ends")
	return orRelease(c, o.statusOfRelease)
}

func (o *statusOptions) complete(args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	if len(args) != 1 {
		return usage.Errorf("for instance cloneset/web", "give one TYPE/NAME")
	}
	var err error
	o.name, err = named.Parse(args[0])
	return err
}

func (o *statusOptions) run(ctx context.Context) error {
	s, err := o.open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	rec, err := s.Rollout()
	if r, err := o.releaseOf(ctx, s); err == nil && r != nil {
		return o.tellRelease(ctx, r)
	}
	switch {
	case errors.Is(err, kube.ErrNone):
		rec = kube.Record{Ref: s.target.Ref, Plan: plan.Standing(snapshot)}
	case err != nil:
		return err
	}
	if o.watch {
		return o.follow(ctx, s, rec.Plan)
	}
	now := s.Now()
	status := view.RolloutStatus{
		Name: s.target.String(), Plan: rec.Plan, Decision: plan.Next(rec.Plan, snapshot, now), Tally: plan.Count(rec.Plan, snapshot),
		Progress: rec.Progress, Begun: rec.Begun, Times: rec.Times, Now: now,
	}
	if records, err := o.records(); err == nil {
		status.Holder, _ = records.Holder(ctx, rec.Ref) // who drives it is said where that may be read
	}
	if o.output == "json" {
		return view.JSON(o.factory.Streams.Out, status.JSON())
	}
	if err := view.Status(o.factory.Streams.Out, status, o.factory.OutStyle(false)); err != nil {
		return err
	}
	return o.endOf(status.Decision)
}

// follow tells of the rollout until it ends.
func (o *statusOptions) follow(ctx context.Context, s *session, p plan.Plan) error {
	t := o.teller()
	defer t.stop()
	res, err := apply.Watch(ctx, s, s.target.Ref, p, apply.Options{Emit: t.event, AtPause: o.atPause, Until: o.until()})
	if err != nil {
		return err
	}
	return o.end(res)
}

// endOf is the exit code of a look.
func (o *statusOptions) endOf(d plan.Decision) error {
	if d.Verb == plan.Halt {
		return ending.ErrFailed
	}
	return nil
}
