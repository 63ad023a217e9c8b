package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	tty "github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

type runOptions struct {
	execute.Execution
	planning.Options

	yes bool
	// back indicates that the verb goes back to what was: that is what takes a release
	// back that a Rollout of Kruise's has begun.
	back bool
	// into is where the new state is written to in the end.
	into string
	// selector and types stand for several workloads.
	selector string
	types    []string
	// united is the name of a UnitedDeployment whose subsets are rolled out.
	united string
	// as is the verb that makes the new state by itself; nil for run.
	as *change
	// group is how several workloads are rolled out together.
	group execute.GroupFlags
	// discardRecord has a record deleted that cannot be read.
	discardRecord bool
	// ui has the rollout carried out under the terminal interface, which screens shows.
	ui      bool
	screens Screens
}

const runLong = `Plan a change of a workload, show the plan, ask for confirmation, and run it: one step
after the other, each once the conditions of the step before are met.

Several workloads, given with -l or in the files of -f, are planned, simulated and
confirmed together, and rolled out one after the other, none after one that failed. With
--parallel, --max-unavailable-total, --max-failures, --wave-by or --group they are a
group: "rollout status", "pause", "promote", "resume", "retry" and "abort" work on it
with --group NAME. The annotation kubectl-kruise.dev/depends-on names workloads, such as
statefulset/db, that have to be completed before the one that carries it starts.

Ctrl-C stops the command and leaves the rollout as it is; "rollout resume" continues it.`

const runExamples = `  kubectl kruise rollout run cloneset/web --image app=registry.example.com/web:2
  kubectl kruise rollout run -f web.yaml --steps 1,50%,100% --pause-after 1 --yes
  kubectl kruise rollout run sidecarset/mesh --image mesh=registry.example.com/mesh:2 --on-failure rollback -o json

  # all workloads of a directory, in the waves of their annotation, ten at a time
  kubectl kruise rollout run -f shop/ --wave-by argocd.argoproj.io/sync-wave --parallel 10 --max-unavailable-total 5%`

func newRunOptions(shared *session.Client) *runOptions {
	o := &runOptions{Options: planning.Options{Maker: planning.Maker{Factory: shared.Factory, Gates: shared.GateReader}}}
	o.Client = shared.WithGates(&o.Given)
	return o
}

func newRun(shared *session.Client, screens Screens) *cobra.Command {
	o := newRunOptions(shared)
	o.screens = screens
	c := &cobra.Command{
		Use:     "run [TYPE/NAME | [TYPE] -l SELECTOR] (--image CONTAINER=IMAGE | -f FILE | -k DIR)",
		Short:   "Roll out a change: plan, confirm, run",
		Long:    runLong,
		Example: runExamples,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.DryRun.Read(c); err != nil {
				return err
			}
			if err := errors.Join(o.group.Read(c), o.complete(args), o.Detachable(c)); err != nil {
				return err
			}
			return o.runAll(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.Factory),
	}
	o.AddFlags(c)
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "roll out all workloads that this label selector matches, one after the other")
	c.Flags().BoolVar(&o.discardRecord, "discard-record", false, "delete the record of an earlier rollout that cannot be read, after asking; not while a process runs it")
	c.Flags().BoolVar(&o.ui, "ui", false, "show the terminal interface while it runs, as 'kubectl kruise ui' does")
	for _, only := range []string{"against", "with", "pods"} {
		_ = c.Flags().MarkHidden(only) // a rollout starts from the cluster
	}
	o.addRunFlags(c)
	o.group.AddFlags(c)
	o.DryRun.AddFlag(c)
	return c
}

// addRunFlags adds the flags of all verbs that make a plan and carry it out.
func (o *runOptions) addRunFlags(c *cobra.Command) {
	o.AddExecutionFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().StringVar(&o.into, "write-back", "", "when it is done, write the new template and the final partition into the manifest in this file or directory")
	_ = c.MarkFlagFilename("write-back", "yaml", "yml")
	o.Detach.AddFlags(c, &o.Notifications, true)
}

func (o *runOptions) complete(args []string) error {
	if err := errors.Join(o.Check(), o.checkScreens(args)); err != nil {
		return err
	}
	if o.discardRecord && (o.Dry().Only() || o.Detach.Manifest) {
		return command.Usagef("run it once without", "--discard-record deletes a record: --dry-run and --manifest write nothing")
	}
	if len(args) == 1 {
		if name, ok := resourcearg.ParseUnited(args[0]); ok {
			o.united, o.Several = name, true
			return o.CompleteSubsets()
		}
	}
	if o.FromFiles() {
		return command.Usagef("'kubectl kruise plan' and 'kubectl kruise simulate' work from files", "a rollout starts from the cluster: --against, --with and --pods are not for it")
	}
	if o.selector == "" {
		return o.Complete(args)
	}
	o.types = args
	if err := session.Bare(args); err != nil {
		return err
	}
	o.Several = true
	return o.Complete(nil)
}

// runAll rolls out what the command line means: one workload, several, or a UnitedDeployment.
func (o *runOptions) runAll(ctx context.Context) error {
	switch {
	case o.united != "" && o.group.Given:
		return command.Usagef("its subsets follow one after the other", "--%s are not for a UnitedDeployment", strings.Join(execute.GroupFlagNames, ", --"))
	case o.united != "":
		if err := o.RefuseDetach(); err != nil {
			return err
		}
		return o.runUnited(ctx, o.united)
	case o.group.Given:
		if err := o.checkGroup(); err != nil {
			return err
		}
	}
	list, err := o.each(ctx)
	if err != nil {
		return err
	}
	return o.rollOut(ctx, list)
}

// checkGroup refuses flags that are for one workload. Errors are of usage.
func (o *runOptions) checkGroup() error {
	switch {
	case o.ui:
		return oneOnScreens()
	case o.into != "":
		return command.Usagef("roll the workloads out without the flags of a group", "--write-back is for one workload at a time")
	case o.selector == "" && len(o.Sources()) == 0:
		return command.Usagef("give -l SELECTOR, -f FILE or -k DIR", "--%s are for several workloads", strings.Join(execute.GroupFlagNames, ", --"))
	}
	return o.Notifications.CheckGroup()
}

// each is what the command line asks for, once for each workload.
func (o *runOptions) each(ctx context.Context) ([]planning.One, error) {
	if o.selector != "" {
		names, err := o.SelectedWorkloads(ctx, o.types, o.selector)
		return o.eachOf(names), err
	}
	list, err := o.Each(ctx)
	if err != nil || list != nil {
		return list, err
	}
	names, err := o.Workloads(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0 && o.group.Given:
		return nil, errors.New("there is no workload to roll out")
	case len(names) == 0:
		return []planning.One{{Options: o.Options}}, nil
	}
	return o.eachOf(names[:1]), nil
}

func (o *runOptions) eachOf(names []resourcearg.Name) []planning.One {
	out := make([]planning.One, len(names))
	for i, n := range names {
		out[i] = planning.One{Options: o.For(n), Name: n}
	}
	return out
}

// rollOut makes the plans of workloads, and carries them out.
func (o *runOptions) rollOut(ctx context.Context, list []planning.One) error {
	several := len(list) > 1
	switch {
	case several && o.ui:
		return oneOnScreens()
	case several && o.Detach.On && !o.group.Given:
		return o.RefuseDetach()
	case several, o.group.Given:
		end, err := o.Share(ctx)
		if err != nil {
			return err
		}
		defer end()
	}
	r := &execute.Rolling{Execution: &o.Execution}
	if err := o.makeAll(ctx, r, list); err != nil || len(r.Members) == 0 {
		r.CloseAll()
		return err
	}
	return o.carry(ctx, r)
}

// agreed reports whether no question is asked: undo and restart have no question without a terminal.
func (o *runOptions) agreed() bool { return o.yes || o.as != nil && !o.Client.Factory.Streams.InTTY }

// carry shows a rollout, asks, and carries it out.
func (o *runOptions) carry(ctx context.Context, r *execute.Rolling) error {
	defer r.CloseAll()
	done, err := r.ShowAll(ctx)
	if done && o.Printer != nil {
		for _, m := range r.Members {
			err = errors.Join(err, o.preview(ctx, m))
		}
	}
	if done || err != nil {
		return err
	}
	for _, m := range r.Members {
		if err := o.allowNamedCommands(&m.Plan); err != nil {
			return err
		}
	}
	if err := o.Ask(ctx, o.agreed(), r.Question()); err != nil {
		return err
	}
	switch {
	case o.ui:
		return o.onScreens(ctx, r)
	case o.Detach.On:
		return o.Jobs().Begin(ctx, r)
	}
	phases, err := r.RunAll(ctx)
	for _, m := range r.Members {
		if phases[m.Ref()] == plan.PhaseCompleted {
			err = errors.Join(err, o.writeBack(ctx, m), o.changed(ctx, m))
		}
	}
	return o.UnlessPaused(err)
}

// makeAll makes the plan of every workload, and one rollout of all. Nothing is written, but where a
// Rollout of Kruise's is handed the only one.
func (o *runOptions) makeAll(ctx context.Context, r *execute.Rolling, list []planning.One) error {
	var errs resource.Errors
	work := o.Client.Factory.Working("planning").Of(len(list), "workload")
	defer work.Stop()
	for i, one := range list {
		if len(list) > 1 {
			one.Progress = work.Each(i, len(list))
		}
		m, err := o.make(ctx, one)
		h, handed := errors.AsType[*ControlledError](err)
		switch {
		case handed && len(list) == 1 && !o.group.Given:
			work.Stop()
			defer m.Session.Close()
			return o.handOver(ctx, m, h)
		case handed:
			err = &resource.Error{Err: fmt.Errorf("%s is %w", m.Ref(), h), Hint: "roll it out by itself: its Rollout makes the steps"}
		case err == nil && m.Idle() && len(list) > 1:
			_, _ = fmt.Fprintf(o.Client.Factory.Streams.Err, "%s: %s\n", m.Ref(), o.why(m))
		case err == nil && m.Idle():
			err = o.unchanged(m, o.why(m))
		}
		if err != nil {
			errs.Add(err)
			if m.Session != nil {
				m.Session.Close()
			}
			continue
		}
		r.AddMember(m)
	}
	if err := errs.Err(); err != nil {
		return err
	}
	return r.Assemble(&o.group, append(o.Sources(), o.selector)...)
}

// make opens a workload and makes its plan. Where that fails, the member may be open.
func (o *runOptions) make(ctx context.Context, one planning.One) (*execute.Member, error) {
	m := &execute.Member{Called: one.Name}
	manifest, name, namespace, err := one.Which(ctx)
	if err != nil {
		return m, err
	}
	m.Called = name
	snapshot, err := o.present(ctx, m, namespace)
	if err != nil {
		return m, err
	}
	object := m.Session.Object
	if o.as != nil {
		m.Desired, m.Same, err = o.as.make(object, snapshot)
	} else {
		m.Desired, err = one.Desired(ctx, manifest, object)
	}
	if err != nil {
		return m, err
	}
	if err := planning.Admit(object, m.Desired, snapshot.Gates.Release); err != nil {
		return m, err
	}
	if err := o.ready(ctx, m); err != nil {
		return m, err
	}
	made, err := one.Plan(ctx, object, snapshot, m.Desired)
	if err != nil {
		return m, err
	}
	return m, m.Take(made)
}

// ready is asked before the plan is made: whether a plan is what there is to make,
// and whether its result can be written back.
func (o *runOptions) ready(ctx context.Context, m *execute.Member) error {
	if err := o.findManifest(m); err != nil {
		return err
	}
	o.WarnOfOwners(m.Session.Object)
	if err := m.Session.Parent.Allows(m.Session.Object, m.Desired); err != nil {
		return err
	}
	r, err := o.ReleaseOf(ctx, m.Session)
	if err != nil || r == nil {
		return err
	}
	return &ControlledError{r, m.Desired}
}

// present opens the workload, and is what the plan is made from. No plan is shown or asked about
// that cannot be begun, since another rollout is in progress; a group continues that.
func (o *runOptions) present(ctx context.Context, m *execute.Member, namespace string) (plan.Snapshot, error) {
	if err := o.discardUnreadable(ctx, m.Called, namespace); err != nil {
		return plan.Snapshot{}, err
	}
	begins := plan.TransitionBegin
	if o.back {
		begins = plan.TransitionUndo
	}
	for {
		s, err := o.LocateIn(ctx, m.Called, namespace)
		if err != nil {
			return plan.Snapshot{}, err
		}
		if err := o.Watch(ctx, s); err != nil {
			return plan.Snapshot{}, err
		}
		m.Session = s
		refused := apply.Idle(s, begins)
		if refused == nil || o.group.Given {
			return s.Observe(ctx, s.Target.Ref)
		}
		if o.Dry().Only() {
			return plan.Snapshot{}, refused
		}
		if err := o.ReplaceOngoing(ctx, s, refused, "End it where it is, and plan this one instead?"); err != nil {
			return plan.Snapshot{}, err
		}
		s.Close() // it is read again, as it was left
		m.Session = nil
	}
}

// discardUnreadable deletes the record of a workload where --discard-record asks for that and it
// cannot be read. A person answers for it by itself: the history in it is lost.
func (o *runOptions) discardUnreadable(ctx context.Context, name resourcearg.Name, namespace string) error {
	if !o.discardRecord {
		return nil
	}
	s, err := o.LocateIn(ctx, name, namespace)
	if err != nil {
		return err
	}
	records, err := o.Records()
	if err != nil {
		return err
	}
	_, err = records.Load(ctx, s.Target.Ref)
	if _, unreadable := errors.AsType[apply.UnreadableRecordError](err); !unreadable {
		return nil // what else is wrong stops the rollout below
	}
	if err := o.Ask(ctx, o.agreed(), fmt.Sprintf("%v.\nDelete it, its plan and its history? %s stays as it is.", err, s.Target)); err != nil {
		return err
	}
	if err := records.Discard(ctx, s.Target.Ref, session.Holder(), o.PrintWaiting); err != nil {
		return session.WithHint(err)
	}
	_, _ = fmt.Fprintf(o.Client.Factory.Streams.Err, "the record of %s was deleted\n", s.Target)
	return nil
}

// checkScreens refuses what --ui cannot go with: the screens are for people, and show
// one rollout that is carried out.
func (o *runOptions) checkScreens(args []string) error {
	if !o.ui {
		return nil
	}
	united := false
	if len(args) == 1 {
		_, united = resourcearg.ParseUnited(args[0])
	}
	switch {
	case o.selector != "" || united:
		return oneOnScreens()
	case o.Output != execute.Outputs[0] || o.into != "" || o.Timeout != 0 || o.AtPause || len(o.Notifications.URLs) > 0 || o.Notifications.Listen != "":
		return command.Usagef("leave one of them out", "--ui does not go with -o, --write-back, --timeout, --exit-on-pause, --success-on, --notify and --listen")
	}
	return tty.Check(o.Client.Factory.Streams, "leave --ui out")
}

func oneOnScreens() error {
	return command.Usagef("name one workload; 'kubectl kruise ui' shows those of a namespace", "--ui is for the rollout of one workload")
}

// onScreens carries the plan of one workload out while the terminal interface shows it. Leaving the
// interface leaves the rollout where it is.
func (o *runOptions) onScreens(ctx context.Context, r *execute.Rolling) error {
	m := r.Members[0]
	r.CloseAll()
	live := live.New(ctx, o.Client.Factory, o.StateNamespace)
	defer live.Close()
	live.Authority = o.Authority
	at, _ := live.Sessions()
	if err := live.Start(at, m.Ref(), func(context.Context, *session.Session) (plan.Plan, error) { return m.Plan, nil }); err != nil {
		return err
	}
	if err := o.screens(ctx, o.Client.Factory, live, m.Ref()); err != nil {
		return err
	}
	return live.Ended(m.Ref(), &o.Execution)
}

// allowNamedCommands lets commands run that the person named on the command line, in a flag, or in a
// strategy file that was shown before the question.
func (o *runOptions) allowNamedCommands(p *plan.Plan) error {
	from, others := o.Untyped(p)
	switch {
	case len(others) == 0, from == planning.FromStrategy && !o.agreed():
		o.Authority.Asks.Commands = true
		return nil
	}
	return o.CheckCommands(others, from)
}
