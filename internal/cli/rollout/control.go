package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// control is a verb that changes a rollout's record, and may go on with it.
type control struct {
	execution

	// only indicates that the record is changed and nothing more.
	only bool
	// makes returns what the verb does, once its flags are read.
	makes func() (action, error)
	// continues indicates that the caller carries the rollout out, unless another process does;
	// detaches that a Job can do so as well.
	continues, detaches bool

	// without is what the verb does to a workload that no rollout is recorded for;
	// such a verb takes several objects, and prints them. release is what it does to
	// an object of Kruise Rollout.
	without func(context.Context, *control, *session) error
	release func(context.Context, *control, *release.Rollout) error
	objects objects
	manager string
	// toRelease is what the verb does to an object of Kruise Rollout where it takes one object.
	toRelease func(context.Context, *control, *release.Rollout) error
	// group has the verb work on a whole group of rollouts.
	group ofGroup
}

// action is what a verb does to a recorded rollout, and what it prints about it then.
type action struct {
	do   apply.Transition
	said func(plan.Record) string
	// step is the index of the step that it acts on, where that is ahead of the recorded one.
	step int
	// at is the action for a rollout that d shows, where the record may lag behind; nil if
	// that makes no difference.
	at func(recorded plan.Progress, d plan.Decision) action
}

// shown returns the action for what 'rollout status' shows of a rollout. Who may not read its
// pods acts on the record.
func (a action) shown(ctx context.Context, c *common, at *session, rollouts apply.Rollouts) (action, error) {
	if a.at == nil {
		return a, nil
	}
	rec, err := rollouts.Get(ctx, at.target.Ref)
	if errors.Is(err, plan.ErrNoRollout) {
		return a, nil // the verb itself says so
	}
	if err != nil {
		return a, err
	}
	if step := rec.Present(); step == nil || step.Kind == plan.StepPause {
		return a, nil
	}
	s := *at
	if err := c.watch(ctx, &s); err != nil {
		if apierrors.IsForbidden(err) {
			return a, nil
		}
		return a, err
	}
	defer s.Close()
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if apierrors.IsForbidden(err) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	return a.at(rec.Progress, plan.Next(rec.Plan, snapshot, s.Now())), nil
}

// always is an action that no flag changes.
func always(a action) func() (action, error) { return func() (action, error) { return a, nil } }

func newControl(shared *common, o *control, c *cobra.Command) *cobra.Command {
	o.common = shared
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.factory)
	o.group.addFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.group.name != "" {
			if err := errors.Join(o.group.check(args), o.readDry(c), o.detachable(c), o.notifications.checkGroup()); err != nil {
				return err
			}
			return o.onGroup(c.Context(), false)
		}
		if o.printer != nil {
			return o.several(c, args)
		}
		if name, ok := releaseNamed(strings.Join(args, "/")); ok && o.toRelease != nil {
			r, err := o.common.release(c.Context(), name)
			if err = errors.Join(o.dryRun.Read(c), err); err != nil {
				return err
			}
			return o.toRelease(c.Context(), o, r)
		}
		args, err := inParts(c.Context(), args, o.inFlight)
		if err != nil {
			return err
		}
		name, err := workloadOrPod(args)
		a, unready := o.ready()
		if err := errors.Join(o.dryRun.Read(c), unready, err, o.detachable(c)); err != nil {
			return err
		}
		return o.run(c.Context(), name, a)
	}
	if o.detaches {
		o.detach.addFlags(c, &o.notifications, false)
	}
	if o.without == nil { // the others print objects, and have it by that
		o.dryRun.AddFlag(c)
	}
	if o.continues {
		o.addFlags(c)
		o.authority.addTakeOverFlags(c)
		c.Flags().BoolVarP(&o.authority.yes, "yes", "y", false, "do not ask: a plan that was not approved on this machine must be named by --approved or --plan")
		c.Flags().BoolVar(&o.only, "no-wait", false, "only record the request; the process that runs the rollout carries it out")
	} else {
		o.output, o.successOn = outputs[0], "complete"
	}
	return c
}

// readDry reads the flags of the command line that are read with its arguments.
func (o *control) readDry(c *cobra.Command) error {
	if o.printer != nil {
		return o.printer.complete(c)
	}
	return o.dryRun.Read(c)
}

// workloadOrPod is the one object that a command line names.
func workloadOrPod(args []string) (resourcearg.Name, error) {
	if len(args) == 1 {
		return resourcearg.ParseAny(args[0])
	}
	return resourcearg.ParseOne(args)
}

// ready checks the flags and makes what the verb does of them.
func (o *control) ready() (action, error) {
	if err := o.validate(); err != nil {
		return action{}, err
	}
	return o.makes()
}

// addObjects adds the flags of a verb that takes several objects, and prints them with
// what was done.
func (o *control) addObjects(c *cobra.Command, done string) {
	o.objects.parts = o.inFlight
	o.objects.addFlags(c)
	o.printer = newPrinted(c, done, &o.output).addDryRunFlag(c)
	if c.Flags().Lookup("output") == nil {
		c.Flags().StringVarP(&o.output, "output", "o", "", printedFormats)
	}
	cmdutil.AddFieldManagerFlagVar(c, &o.manager, fieldManager)
}

// several does it to every object that the command line means.
func (o *control) several(c *cobra.Command, args []string) error {
	if err := errors.Join(o.printer.complete(c), o.detachable(c)); err != nil {
		return err
	}
	a, err := o.ready()
	if err != nil {
		return err
	}
	ctx := c.Context()
	return o.each(ctx, &o.objects, args, func(arg string) error {
		if name, ok := releaseNamed(arg); ok {
			r, err := o.common.release(ctx, name)
			if err != nil {
				return err
			}
			return o.release(ctx, o, r)
		}
		name, err := resourcearg.ParseAny(arg)
		if err != nil {
			return err
		}
		return o.run(ctx, name, a)
	})
}

func (o *control) run(ctx context.Context, name resourcearg.Name, a action) error {
	s, err := o.locate(ctx, name)
	if err != nil {
		return err
	}
	rollouts, err := o.rollouts()
	if err != nil {
		return err
	}
	if o.without != nil {
		rec, err := rollouts.Get(ctx, s.target.Ref)
		switch {
		case errors.Is(err, plan.ErrNoRollout), err == nil && !rec.InFlight():
			return o.without(ctx, o, s)
		case err != nil:
			return err
		}
	}
	if a, err = a.shown(ctx, o.common, s, rollouts); err != nil {
		return err
	}
	if o.dry().Only() {
		return o.preview(ctx, s, a, false)
	}
	return o.onRecord(ctx, s, rollouts, a)
}

// onRecord changes the record, and continues the rollout.
func (o *control) onRecord(ctx context.Context, s *session, rollouts apply.Rollouts, a action) error {
	if _, err := rollouts.Get(ctx, s.target.Ref); errors.Is(err, plan.ErrNoRollout) {
		return o.none(ctx, s)
	}
	if o.detach.on {
		return o.detachRecord(ctx, s, rollouts, a)
	}
	return o.do(ctx, s, rollouts, a, o.continues && !o.only)
}

// do changes the record; with continues, what is left of the rollout is carried out, unless another
// process does.
func (o *control) do(ctx context.Context, s *session, rollouts apply.Rollouts, a action, continues bool) error {
	done, said, err := o.act(ctx, ctx, s, rollouts, a, continues)
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

// act has a recorded rollout make a transition, and its controller stop where that is asked for; said
// describes the record then. With continues, the caller carries out what is left, watched until the
// context lasting ends, unless another process does.
func (c *common) act(ctx, lasting context.Context, s *session, rollouts apply.Rollouts, a action, continues bool) (done apply.Done, said string, err error) {
	acting := rollouts
	acting.Open = func(context.Context, cluster.Ref) (apply.Workload, error) {
		err := c.watch(lasting, s)
		switch {
		case apierrors.IsForbidden(err): // who may not even watch the workload may not drive its rollout
			return nil, &apply.DeniedError{Err: err}
		case err != nil:
			return nil, err
		}
		s.AllowVerify(c.authority.asks)
		return s, nil
	}
	if done, err = acting.Do(lasting, s.target.Ref, apply.Act{Transition: a.do, Continues: continues}); err != nil {
		return done, "", withHint(err)
	}
	rec, err := c.stop(ctx, s, rollouts, done.Record)
	return done, a.said(rec), err
}

// changed describes what the record is now.
func (o *control) changed(s *session, said string) error {
	_, _ = fmt.Fprintln(o.factory.Streams.Err, said)
	if o.printer == nil {
		return nil
	}
	return o.printer.resource(o.common, s.object)
}

// stop has the controller of a rollout stopped that was paused or aborted.
func (c *common) stop(ctx context.Context, s *session, rollouts apply.Rollouts, rec plan.Record) (plan.Record, error) {
	if !rec.Progress.Stop.Asked {
		return rec, nil
	}
	stopped, err := rollouts.Stop(ctx, s.target.Ref)
	if denied, ok := errors.AsType[*apply.DeniedError](err); ok {
		return rec, &resource.Error{
			Err:  fmt.Errorf("the request is recorded, but pods of the current step are still updated: no process runs the rollout to stop the controller, and %w", denied),
			Hint: "run it again by an account with the role of 'kubectl kruise rbac'",
		}
	}
	if err != nil {
		return rec, &resource.Error{Err: fmt.Errorf("the request is recorded, but %w", err), Hint: "run it again"}
	}
	if s.object != nil {
		c.warnOfStop(s.object, stopped.Progress.Stop)
	}
	return stopped, nil
}
