package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// control is a verb that changes what is recorded of rollouts, and may continue them.
type control struct {
	execute.Execution

	// action is what it does to a recorded rollout, as its flags say.
	action session.Action
	// only indicates that the record is changed and nothing more.
	only bool
	// group is the name of the group on whose rollouts it works; "" for workloads.
	group string
	// objects are what pause and resume take, and print. manager owns what they write.
	objects session.Objects
	manager string
	// yes is the answer whether a rollout is rolled back.
	yes bool
}

// newControl makes the command of a verb; done is what is printed behind the objects of one that
// prints them, "" for the others.
func newControl(shared *session.Client, o *control, c *cobra.Command, done string) *cobra.Command {
	o.Client = shared
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.Factory)
	c.RunE = func(c *cobra.Command, args []string) error {
		dry := o.DryRun.Read
		if o.Printer != nil {
			dry = o.Printer.Complete
		}
		if err := errors.Join(dry(c), o.Check(), o.Detachable(c)); err != nil {
			return err
		}
		return o.run(c.Context(), args)
	}
	addGroupFlag(c, &o.group)
	switch {
	case o.action.ContinuesRollout():
		if o.action.Transition != plan.TransitionPromote {
			o.Detach.AddFlags(c, &o.Notifications, false)
		}
		o.AddExecutionFlags(c)
		o.Authority.AddTakeOverFlags(c)
		c.Flags().BoolVarP(&o.Authority.Yes, "yes", "y", false, "do not ask: a plan that was not approved on this machine must be named by --approved or --plan")
		c.Flags().BoolVar(&o.only, "no-wait", false, "only record the request; the process that runs the rollout carries it out")
	case o.action.Transition == plan.TransitionAbort:
		o.AddExecutionFlags(c)
		o.Authority.AddTakeOverFlags(c)
		c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	default:
		o.Output, o.SuccessOn = execute.Outputs[0], "complete"
	}
	if done == "" {
		o.DryRun.AddFlag(c)
		return c
	}
	o.objects.United = session.AsInProgress
	o.objects.AddFlags(c)
	o.Printer = session.NewPrinted(c, done, &o.Output).AddDryRunFlag(c)
	if c.Flags().Lookup("output") == nil {
		c.Flags().StringVarP(&o.Output, "output", "o", "", execute.PrintedFormats)
	}
	cmdutil.AddFieldManagerFlagVar(c, &o.manager, session.FieldManager)
	return c
}

// run does it to the group of --group, or to what the command line names.
func (o *control) run(ctx context.Context, args []string) error {
	switch {
	case o.group != "" && len(args) > 0:
		return errGroupAndName()
	case o.group != "":
		if err := o.Notifications.CheckGroup(); err != nil {
			return err
		}
		return o.onGroup(ctx)
	case o.Printer != nil:
		return o.Each(ctx, &o.objects, args, func(arg string) error { return o.onNamed(ctx, arg) })
	}
	if name, ok := session.ReleaseNamed(strings.Join(args, "/")); ok && o.action.Transition == plan.TransitionPromote {
		return o.onNamed(ctx, "rollout/"+name)
	}
	if name, ok := resourcearg.ParseUnited(strings.Join(args, "/")); ok && o.isAbort() {
		return o.abortUnited(ctx, name)
	}
	args, err := o.InParts(ctx, args, session.AsInProgress)
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
func (o *control) continuesHere() bool { return o.action.ContinuesRollout() && !o.only }

// workloadOrPod is the one object that a command line names.
func workloadOrPod(args []string) (resourcearg.Name, error) {
	if len(args) == 1 {
		return resourcearg.ParseAny(args[0])
	}
	return resourcearg.ParseOne(args)
}

// onNamed does it to an object of Kruise Rollout, or to a workload.
func (o *control) onNamed(ctx context.Context, arg string) error {
	if name, ok := session.ReleaseNamed(arg); ok {
		r, err := o.ReleaseNamed(ctx, name)
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
	s, err := o.Locate(ctx, name)
	if err != nil {
		return err
	}
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	rec, err := rollouts.Get(ctx, s.Target.Ref)
	none := errors.Is(err, plan.ErrNoRollout)
	switch {
	case o.Printer != nil && (none || err == nil && !rec.InFlight()):
		return o.pauseField(ctx, s)
	case none:
		return o.none(ctx, s)
	case err != nil:
		return err
	}
	a, err := o.action.AsShown(ctx, o.Client, s, rollouts)
	switch {
	case err != nil:
		return err
	case o.Dry().Only():
		return o.preview(ctx, s, a, false)
	case o.Detach.On:
		return o.detachRecord(ctx, s, rollouts, a)
	}
	return o.do(ctx, s, a, o.continuesHere())
}

// do changes the record; with continues, what is left of the rollout is carried out, unless another
// process does.
func (o *control) do(ctx context.Context, s *session.Session, a session.Action, continues bool) error {
	done, said, err := o.ActOn(ctx, s, a, continues)
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
		return o.NotDriven(ctx, s, done.Elsewhere)
	case done.Executor == nil:
		return nil
	}
	res, err := o.CarryOut(ctx, s, done.Executor, nil)
	if err != nil {
		return err
	}
	return o.Ending(res)
}

// changed describes what the record is now.
func (o *control) changed(s *session.Session, said string) error {
	_, _ = fmt.Fprintln(o.Factory.Streams.Err, said)
	if o.Printer == nil {
		return nil
	}
	return o.Printer.Resource(o.Client, s.Object)
}

// detachRecord has a Job carry out the recorded rollout. What the Job may do is what its
// person has approved: the plan as it is recorded now, as a whole.
func (o *control) detachRecord(ctx context.Context, s *session.Session, rollouts apply.Rollouts, a session.Action) error {
	rec, err := rollouts.Get(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	if by, err := rollouts.Holder(ctx, s.Target.Ref); err == nil && by != "" {
		return session.WithHint(fmt.Errorf("%w: %s", plan.ErrOtherExecutor, by))
	}
	if _, err := a.Apply(rec.Progress, rec.Plan, session.Holder(), metav1.Now().Time); err != nil {
		return err
	}
	if err := o.Watch(ctx, s); err != nil {
		return err
	}
	defer s.Close()
	if err := s.May(ctx, rec.Plan); err != nil {
		return session.WithHint(&apply.DeniedError{Err: err})
	}
	from, err := o.approve(ctx, s, rec.Plan)
	if err != nil {
		return err
	}
	of := plan.RolloutOf(rec.Plan)
	return o.Jobs().Around(ctx, &of, func() error { return o.do(ctx, s, a, false) }, func(spec *runner.Spec) {
		if spec.From = from; rec.Plan.RollbackReason != "" {
			spec.BackTo = rec.Plan.Change.ToHash
		}
	})
}

// approve has the person approve what is left of the recorded plan, unless they have approved
// the whole. from is the first step that the Job may carry out: steps before it were not looked
// at.
func (o *control) approve(ctx context.Context, s *session.Session, p plan.Plan) (from int, err error) {
	a := o.Approvals()
	if known, err := a.Approved(ctx, p); err != nil || known {
		return 0, err
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return 0, err
	}
	return snapshot.Progress.Step, a.AskForRest(ctx, p, snapshot, []string{"a Job carries out what was approved, and nothing else"}, "Have a Job carry this out, with the rights of its ServiceAccount?")
}

// pauseField pauses or resumes a workload without a recorded rollout: its controller stops updating
// pods, or continues.
func (o *control) pauseField(ctx context.Context, s *session.Session) error {
	if r, err := o.ReleaseOf(ctx, s); err == nil && r != nil {
		return session.ControlledByRelease(s.Target.String(), r)
	}
	object, path, on := s.Object, session.PausedPath(s.Object), o.action.Transition == plan.TransitionPause
	if err := session.Pausable(object, path, on); err != nil {
		return err
	}
	if o.Printer.Only() && !o.Printer.AtServer() {
		return o.Printer.Resource(o.Client, object)
	}
	opt := metav1.PatchOptions{FieldManager: o.manager}
	if o.Printer.Only() {
		opt.DryRun = []string{metav1.DryRunAll}
	}
	u, err := o.WritePause(ctx, s, path, on, opt)
	if err != nil {
		return err
	}
	return o.Printer.Write(o.Client, u)
}
