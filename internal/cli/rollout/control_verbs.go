package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func newPromote(shared *common) *cobra.Command {
	var full bool
	var to string
	approve := func(ctx context.Context, o *control, r *release.Rollout) error {
		if full || to != "" {
			return command.Usagef("without them, the current step is approved", "rollout/%s is a Rollout of %s: --full and --to are not for it", r.Name, release.Group)
		}
		return o.approveRelease(ctx, &printed{flags: genericclioptions.NewPrintFlags("approved"), dry: o.dryRun}, fieldManager, r)
	}
	c := newControl(shared, &control{continues: true, toRelease: approve, group: ofGroup{marks: resumesGroup, onlyWaiting: true}, makes: func() (action, error) {
		how, err := promotionOf(full, to)
		return promoting(how), err
	}}, &cobra.Command{
		Use: "promote TYPE/NAME", Short: "Promote a rollout to its next step",
		Long: `Promote a rollout past the pause or condition that it is at. --full skips all remaining
pauses, --to those up to an amount; verify steps still run. The current step of a Rollout
of rollouts.kruise.io, named by itself or by its workload, is approved.`,
		Example: "  kubectl kruise rollout promote cloneset/web\n  kubectl kruise rollout promote cloneset/web --to 50%",
	})
	c.Flags().BoolVar(&full, "full", false, "skip all remaining pauses")
	c.Flags().StringVar(&to, "to", "", "skip pauses up to this number of updated pods, such as 5 or 50%")
	return c
}

// promotionOf reads the flags.
func promotionOf(full bool, to string) (how plan.Promotion, err error) {
	switch {
	case full && to != "":
		return how, command.Usagef("", "--full and --to exclude each other")
	case to == "":
		return plan.Promotion{Full: full}, nil
	}
	amount, err := plan.ParseAmount(to)
	if err != nil {
		return how, command.Usagef("for instance 5 or 50%", "--to: %v", err)
	}
	return plan.Promotion{To: &amount}, nil
}

// promoting passes the present step, or all pauses up to an amount.
func promoting(how plan.Promotion) action {
	a := action{step: how.Past, do: apply.Promotion(how), said: func(r plan.Record) string {
		name := func(i int) string { return r.Plan.Steps[max(0, min(i, len(r.Plan.Steps)-1))].Name }
		switch {
		case how.Past > 0:
			return "promoted past step " + name(how.Past)
		case how == (plan.Promotion{}):
			return "promoted past step " + name(r.Progress.Step)
		}
		return "promoted: skips the pauses up to step " + name(r.Progress.FirstCountingPause-1)
	}}
	if how == (plan.Promotion{}) {
		a.at = func(p plan.Progress, d plan.Decision) action { return promoting(p.PromotionAt(d)) }
	}
	return a
}

func newResume(shared *common) *cobra.Command {
	o := &control{continues: true, detaches: true, without: pauseField(false), release: releasePause(false), makes: always(resuming), group: ofGroup{marks: resumesGroup, onlyWaiting: true}}
	c := newControl(shared, o, &cobra.Command{
		Use: "resume (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Resume a paused or unattended rollout",
		Long: `Resume a rollout that was paused, or whose executor has stopped: it continues from the
state recorded in the cluster, without repeating or skipping a step. For a workload
without a recorded rollout, the pause of the workload itself is removed; so is that of
a Rollout of rollouts.kruise.io.`,
		Example: "  kubectl kruise rollout resume cloneset/web\n  kubectl kruise rollout resume deployment api web",
	})
	o.addObjects(c, "resumed")
	return c
}

var resuming = action{
	do:   plan.Progress.Resume,
	said: func(r plan.Record) string { return "resumed, now " + r.Describe() },
}

func newPause(shared *common) *cobra.Command {
	var afterStep bool
	o := &control{without: pauseField(true), release: releasePause(true), group: ofGroup{marks: pausesGroup}, makes: func() (action, error) {
		if afterStep {
			return holdingAfterStep(), nil
		}
		return holding(), nil
	}}
	c := newControl(shared, o, &cobra.Command{
		Use: "pause (TYPE/NAME | TYPE NAME | -f FILE)", Short: "Pause a rollout",
		Long: `Pause a rollout: no more pods are updated once the command returns, except those already
in progress. The controller is stopped by a field of the workload's spec, which
'rollout resume' restores. With --after-step the current step is finished first, and the
controller is not stopped.

For a workload without a recorded rollout, its own controller is paused; a Rollout of
rollouts.kruise.io is paused itself.`,
		Example: "  kubectl kruise rollout pause cloneset/web\n  kubectl kruise rollout pause cloneset/web --after-step\n  kubectl kruise rollout pause rollout/web",
	})
	c.Flags().BoolVar(&afterStep, "after-step", false, "finish the current step, then pause")
	o.addObjects(c, "paused")
	return c
}

func holding() action {
	return action{do: apply.Pausing(holder()), said: func(r plan.Record) string {
		text := "paused: no further pod is updated until 'rollout resume'"
		if by := r.Progress.Stop.String(); by != "" {
			text += " (" + by + ")"
		}
		return text
	}}
}

func holdingAfterStep() action {
	return action{do: apply.PausingAfterStep(holder()), said: func(r plan.Record) string {
		text := "paused after the present step"
		if s := r.Present(); s != nil {
			text += ", " + s.Name
		}
		return text + ": its pods are still updated, no others until 'rollout resume'"
	}}
}

func newRetry(shared *common) *cobra.Command {
	return newControl(shared, &control{continues: true, detaches: true, makes: always(retrying)}, &cobra.Command{
		Use: "retry TYPE/NAME", Short: "Retry the failed step of a rollout",
		Example: "  kubectl kruise rollout retry cloneset/web",
	})
}

var retrying = action{
	do:   plan.Progress.Retry,
	said: func(r plan.Record) string { return "retried, now " + r.Describe() },
}

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
				if err := errors.Join(o.dryRun.Read(c), o.group.check(args)); err != nil {
					return err
				}
				return o.abortGroup(c.Context())
			}
			if name, ok := resourcearg.ParseUnited(strings.Join(args, "/")); ok {
				if err := errors.Join(o.dryRun.Read(c), o.validate()); err != nil {
					return err
				}
				return o.abortUnited(c.Context(), name)
			}
			name, err := workloadOrPod(args)
			if err := errors.Join(o.dryRun.Read(c), o.validate(), err); err != nil {
				return err
			}
			return o.abort(c.Context(), name, o.yes)
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.factory),
	}
	o.addFlags(c)
	o.dryRun.AddFlag(c)
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

// abort ends the rollout of one workload; yes is the answer whether it is rolled back.
func (o *abortOptions) abort(ctx context.Context, name resourcearg.Name, yes bool) error {
	why := "aborted by " + holder()
	a := aborting(why, o.rollback)
	if o.dry().Only() {
		return o.previewAbort(ctx, name, a, o.rollback)
	}
	if o.rollback {
		if err := o.ask(ctx, yes, "Take the rollout of "+name.String()+" back?"); err != nil {
			return err
		}
	}
	if err := o.run(ctx, name, a); err != nil {
		return err
	}
	if !o.rollback {
		return o.sayLeft(ctx, name)
	}
	return o.back(ctx, name, why)
}

// previewAbort reports what abort would do; with back, how the rollout would be taken back.
func (o *abortOptions) previewAbort(ctx context.Context, name resourcearg.Name, a action, back bool) error {
	s, err := o.locate(ctx, name)
	if err != nil {
		return err
	}
	return o.preview(ctx, s, a, back)
}

// sayLeft says what an aborted rollout leaves that later changes meet. Who may decide need not see
// the pods.
func (o *abortOptions) sayLeft(ctx context.Context, name resourcearg.Name) error {
	err := o.readLeft(ctx, name)
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

func (o *abortOptions) readLeft(ctx context.Context, name resourcearg.Name) error {
	s, err := o.open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.parent != nil {
		return o.endUnited(ctx, s.parent.object.Namespace, s.parent.object.Name)
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	if text := plan.Left(snapshot); text != "" {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "left: %s; '%s' rolls back\n", text, o.factory.WithConnection("kubectl kruise rollout abort "+name.String()+" --rollback"))
	}
	return nil
}

// abortUnited ends the rollout of a UnitedDeployment: that of the subset whose turn it is, and, where
// all are rolled back, those that are done as well.
func (o *abortOptions) abortUnited(ctx context.Context, name string) error {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return err
	}
	u, err := united.Get(ctx, client, namespace, name)
	rendered := apierrors.IsNotFound(err)
	if err != nil && !rendered {
		return err
	}
	list, err := o.inFlight(ctx, name)
	between := !rendered && o.rollback && (u.Start != nil || u.Held())
	if err != nil && (!between || !errors.Is(err, errNoneInFlight)) {
		return err
	}
	if o.rollback && !o.dry().Only() {
		if err := o.ask(ctx, o.yes, "Roll back uniteddeployment/"+name+", all of its subsets?"); err != nil {
			return err
		}
	}
	why := "aborted by " + holder()
	for _, arg := range list {
		member, err := resourcearg.ParseAny(arg)
		if err != nil {
			return err
		}
		switch {
		case rendered:
			err = o.abort(ctx, member, true) // the answer was for the whole
		case o.dry().Only():
			err = o.previewAbort(ctx, member, aborting(why, o.rollback), false)
		default:
			err = o.run(ctx, member, aborting(why, o.rollback))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case rendered:
		return nil
	case o.rollback && o.dry().Only():
		subsets := &subsets{execution: &o.execution, object: u}
		if err := subsets.toFormer(ctx, why); err != nil {
			return err
		}
		return o.show(ctx, subsets.requests(nil))
	case o.dry().Only():
		return nil
	}
	if !o.rollback {
		return o.endUnited(ctx, namespace, name)
	}
	return o.rollBackSubsets(ctx, namespace, name, why)
}

// aborting ends a rollout; one that is done only where its work is taken back.
func aborting(why string, back bool) action {
	return action{do: apply.Aborting(why, back), said: func(r plan.Record) string { return r.Describe() }}
}

// back carries out the way back.
func (o *abortOptions) back(ctx context.Context, name resourcearg.Name, why string) error {
	rollouts, err := o.rollouts()
	if err != nil {
		return err
	}
	s, err := o.open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.parent != nil {
		return o.rollBackSubsets(ctx, s.parent.object.Namespace, s.parent.object.Name, why)
	}
	s.AllowVerify(o.authority.asks)
	e, err := rollouts.Rollback(ctx, s, why)
	if err != nil {
		return withHint(err)
	}
	if p := e.Plan(); len(p.Steps) == 0 {
		e.Release()
		_, err := fmt.Fprintln(o.factory.Streams.Out, "nothing to roll back: "+p.Change.Why)
		return err
	}
	res, err := o.carryOut(ctx, s, e, nil)
	if err == nil && res.Outcome != event.RolledBack {
		err = o.end(res)
	}
	return err
}
