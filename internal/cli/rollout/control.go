package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// control is a verb that changes what is recorded of rollouts, and may continue them.
type control struct {
	execution

	// action is what it does to a recorded rollout, as its flags say.
	action action
	// only indicates that the record is changed and nothing more.
	only bool
	// group is the name of the group on whose rollouts it works; "" for workloads.
	group string
	// objects are what pause and resume take, and print. manager owns what they write.
	objects objects
	manager string
	// yes is the answer whether a rollout is rolled back.
	yes bool
}

// newControl makes the command of a verb; done is what is printed behind the objects of one that
// prints them, "" for the others.
func newControl(shared *common, o *control, c *cobra.Command, done string) *cobra.Command {
	o.common = shared
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.factory)
	c.RunE = func(c *cobra.Command, args []string) error {
		dry := o.dryRun.Read
		if o.printer != nil {
			dry = o.printer.complete
		}
		if err := errors.Join(dry(c), o.validate(), o.detachable(c)); err != nil {
			return err
		}
		return o.run(c.Context(), args)
	}
	addGroupFlag(c, &o.group)
	switch {
	case o.action.continues():
		if o.action.Transition != plan.TransitionPromote {
			o.detach.addFlags(c, &o.notifications, false)
		}
		o.addFlags(c)
		o.authority.addTakeOverFlags(c)
		c.Flags().BoolVarP(&o.authority.yes, "yes", "y", false, "do not ask: a plan that was not approved on this machine must be named by --approved or --plan")
		c.Flags().BoolVar(&o.only, "no-wait", false, "only record the request; the process that runs the rollout carries it out")
	case o.action.Transition == plan.TransitionAbort:
		o.addFlags(c)
		o.authority.addTakeOverFlags(c)
		c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	default:
		o.output, o.successOn = outputs[0], "complete"
	}
	if done == "" {
		o.dryRun.AddFlag(c)
		return c
	}
	o.objects.united = asInProgress
	o.objects.addFlags(c)
	o.printer = newPrinted(c, done, &o.output).addDryRunFlag(c)
	if c.Flags().Lookup("output") == nil {
		c.Flags().StringVarP(&o.output, "output", "o", "", printedFormats)
	}
	cmdutil.AddFieldManagerFlagVar(c, &o.manager, fieldManager)
	return c
}

// run does it to the group of --group, or to what the command line names.
func (o *control) run(ctx context.Context, args []string) error {
	switch {
	case o.group != "" && len(args) > 0:
		return errGroupAndName()
	case o.group != "":
		if err := o.notifications.checkGroup(); err != nil {
			return err
		}
		return o.onGroup(ctx)
	case o.printer != nil:
		return o.each(ctx, &o.objects, args, func(arg string) error { return o.onNamed(ctx, arg) })
	}
	if name, ok := releaseNamed(strings.Join(args, "/")); ok && o.action.Transition == plan.TransitionPromote {
		return o.onNamed(ctx, "rollout/"+name)
	}
	if name, ok := resourcearg.ParseUnited(strings.Join(args, "/")); ok && o.isAbort() {
		return o.abortUnited(ctx, name)
	}
	args, err := o.inParts(ctx, args, asInProgress)
	if err != nil {
		return err
	}
	name, err := workloadOrPod(args)
	if err != nil {
		return err
	}
	if o.isAbort() {
		return o.abort(ctx, name, o.yes)
	}
	return o.onWorkload(ctx, name)
}

// continuesHere reports whether the verb carries the rollout out, unless another process does.
func (o *control) continuesHere() bool { return o.action.continues() && !o.only }

// workloadOrPod is the one object that a command line names.
func workloadOrPod(args []string) (resourcearg.Name, error) {
	if len(args) == 1 {
		return resourcearg.ParseAny(args[0])
	}
	return resourcearg.ParseOne(args)
}

// onNamed does it to an object of Kruise Rollout, or to a workload.
func (o *control) onNamed(ctx context.Context, arg string) error {
	if name, ok := releaseNamed(arg); ok {
		r, err := o.release(ctx, name)
		if err != nil {
			return err
		}
		return o.onRelease(ctx, r)
	}
	name, err := resourcearg.ParseAny(arg)
	if err != nil {
		return err
	}
	return o.onWorkload(ctx, name)
}

// onWorkload does it to the rollout of a workload; pause and resume, without one that is recorded, to
// the controller of the workload.
func (o *control) onWorkload(ctx context.Context, name resourcearg.Name) error {
	s, err := o.locate(ctx, name)
	if err != nil {
		return err
	}
	rollouts, err := o.rollouts()
	if err != nil {
		return err
	}
	rec, err := rollouts.Get(ctx, s.target.Ref)
	none := errors.Is(err, plan.ErrNoRollout)
	switch {
	case o.printer != nil && (none || err == nil && !rec.InFlight()):
		return o.pauseField(ctx, s)
	case none:
		return o.none(ctx, s)
	case err != nil:
		return err
	}
	a, err := o.action.shown(ctx, o.common, s, rollouts)
	switch {
	case err != nil:
		return err
	case o.dry().Only():
		return o.preview(ctx, s, a, false)
	case o.detach.on:
		return o.detachRecord(ctx, s, rollouts, a)
	}
	return o.do(ctx, s, a, o.continuesHere())
}

// do changes the record; with continues, what is left of the rollout is carried out, unless another
// process does.
func (o *control) do(ctx context.Context, s *session, a action, continues bool) error {
	done, said, err := o.act(ctx, s, a, continues)
	if errors.Is(err, plan.ErrNoRollout) {
		return o.none(ctx, s)
	}
	if done.Workload != nil {
		defer done.Workload.Close()
	}
	if err == nil {
		err = o.changed(s, said)
	}
	switch {
	case err != nil && done.Executor != nil:
		done.Executor.Release()
		return err
	case err != nil:
		return err
	case done.Elsewhere != nil:
		return o.notDriven(ctx, s, done.Elsewhere)
	case done.Executor == nil:
		return nil
	}
	res, err := o.carryOut(ctx, s, done.Executor, nil)
	if err != nil {
		return err
	}
	return o.end(res)
}

// act has a recorded rollout make a transition; said describes the record then. With continues, the caller carries out
// what is left, watched until the context ends, unless another process does.
func (c *common) act(ctx context.Context, s *session, a action, continues bool) (done apply.Done, said string, err error) {
	rollouts, err := c.rolloutsOf(map[cluster.Ref]*session{s.target.Ref: s})
	if err != nil {
		return done, "", err
	}
	a.Continues = continues
	if done, err = rollouts.Do(ctx, s.target.Ref, a.Act); err != nil {
		return done, "", withHint(err)
	}
	if done.Record.Progress.Stop.Asked {
		c.warnOfStop(s.object, done.Record.Progress.Stop)
	}
	return done, a.said(done.Record), nil
}

// changed describes what the record is now.
func (o *control) changed(s *session, said string) error {
	_, _ = fmt.Fprintln(o.factory.Streams.Err, said)
	if o.printer == nil {
		return nil
	}
	return o.printer.resource(o.common, s.object)
}
