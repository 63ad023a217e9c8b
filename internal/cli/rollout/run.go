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
	tty "github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

type runOptions struct {
	execution
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
	group groupFlags
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

func newRunOptions(shared *common) *runOptions {
	o := &runOptions{Options: planning.Options{Maker: planning.Maker{Factory: shared.factory, Gates: shared.reader}}}
	o.common = shared.withGates(&o.Given)
	return o
}

func newRun(shared *common, screens Screens) *cobra.Command {
	o := newRunOptions(shared)
	o.screens = screens
	c := &cobra.Command{
		Use:     "run [TYPE/NAME | [TYPE] -l SELECTOR] (--image CONTAINER=IMAGE | -f FILE | -k DIR)",
		Short:   "Roll out a change: plan, confirm, run",
		Long:    runLong,
		Example: runExamples,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.dryRun.Read(c); err != nil {
				return err
			}
			if err := errors.Join(o.group.read(c), o.complete(args), o.detachable(c)); err != nil {
				return err
			}
			return o.runAll(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(shared.factory),
	}
	o.AddFlags(c)
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "roll out all workloads that this label selector matches, one after the other")
	c.Flags().BoolVar(&o.discardRecord, "discard-record", false, "delete the record of an earlier rollout that cannot be read, after asking; not while a process runs it")
	c.Flags().BoolVar(&o.ui, "ui", false, "show the terminal interface while it runs, as 'kubectl kruise ui' does")
	for _, only := range []string{"against", "with", "pods"} {
		_ = c.Flags().MarkHidden(only) // a rollout starts from the cluster
	}
	o.addRunFlags(c)
	o.group.addFlags(c)
	o.dryRun.AddFlag(c)
	return c
}

// addRunFlags adds the flags of all verbs that make a plan and carry it out.
func (o *runOptions) addRunFlags(c *cobra.Command) {
	o.addFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().StringVar(&o.into, "write-back", "", "when it is done, write the new template and the final partition into the manifest in this file or directory")
	_ = c.MarkFlagFilename("write-back", "yaml", "yml")
	o.detach.addFlags(c, &o.notifications, true)
}

func (o *runOptions) complete(args []string) error {
	if err := errors.Join(o.validate(), o.checkScreens(args)); err != nil {
		return err
	}
	if o.discardRecord && (o.dry().Only() || o.detach.manifest) {
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
	if err := bare(args); err != nil {
		return err
	}
	o.Several = true
	return o.Complete(nil)
}

// runAll rolls out what the command line means: one workload, several, or a UnitedDeployment.
func (o *runOptions) runAll(ctx context.Context) error {
	switch {
	case o.united != "" && o.group.given:
		return command.Usagef("its subsets follow one after the other", "--%s are not for a UnitedDeployment", strings.Join(groupFlagNames, ", --"))
	case o.united != "":
		if err := o.refuseDetach(); err != nil {
			return err
		}
		return o.runUnited(ctx, o.united)
	case o.group.given:
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
		return command.Usagef("give -l SELECTOR, -f FILE or -k DIR", "--%s are for several workloads", strings.Join(groupFlagNames, ", --"))
	}
	return o.notifications.checkGroup()
}

// each is what the command line asks for, once for each workload.
func (o *runOptions) each(ctx context.Context) ([]planning.One, error) {
	if o.selector != "" {
		names, err := o.selected(ctx, o.types, o.selector)
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
	case len(names) == 0 && o.group.given:
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
	case several && o.detach.on && !o.group.given:
		return o.refuseDetach()
	case several, o.group.given:
		end, err := o.share(ctx)
		if err != nil {
			return err
		}
		defer end()
	}
	r := &rolling{execution: &o.execution}
	if err := o.makeAll(ctx, r, list); err != nil || len(r.members) == 0 {
		r.close()
		return err
	}
	return o.carry(ctx, r)
}

// agreed reports whether no question is asked: undo and restart have no question without a terminal.
func (o *runOptions) agreed() bool { return o.yes || o.as != nil && !o.factory.Streams.InTTY }

// carry shows a rollout, asks, and carries it out.
func (o *runOptions) carry(ctx context.Context, r *rolling) error {
	defer r.close()
	done, err := r.show(ctx)
	if done && o.printer != nil {
		for _, m := range r.members {
			err = errors.Join(err, o.preview(ctx, m))
		}
	}
	if done || err != nil {
		return err
	}
	for _, m := range r.members {
		if err := o.allowNamedCommands(&m.plan); err != nil {
			return err
		}
	}
	if err := o.ask(ctx, o.agreed(), r.question()); err != nil {
		return err
	}
	switch {
	case o.ui:
		return o.onScreens(ctx, r)
	case o.detach.on:
		return o.jobs().begin(ctx, r)
	}
	phases, err := r.run(ctx)
	for _, m := range r.members {
		if phases[m.ref()] == plan.PhaseCompleted {
			err = errors.Join(err, o.writeBack(ctx, m), o.changed(ctx, m))
		}
	}
	return o.unlessPaused(err)
}

// makeAll makes the plan of every workload, and one rollout of all. Nothing is written, but where a
// Rollout of Kruise's is handed the only one.
func (o *runOptions) makeAll(ctx context.Context, r *rolling, list []planning.One) error {
	var errs resource.Errors
	work := o.factory.Working("planning").Of(len(list), "workload")
	defer work.Stop()
	for i, one := range list {
		if len(list) > 1 {
			one.Progress = work.Each(i, len(list))
		}
		m, err := o.make(ctx, one)
		h, handed := errors.AsType[*controlledError](err)
		switch {
		case handed && len(list) == 1 && !o.group.given:
			work.Stop()
			defer m.session.Close()
			return o.handOver(ctx, m, h)
		case handed:
			err = &resource.Error{Err: fmt.Errorf("%s is %w", m.ref(), h), Hint: "roll it out by itself: its Rollout makes the steps"}
		case err == nil && m.idle() && len(list) > 1:
			_, _ = fmt.Fprintf(o.factory.Streams.Err, "%s: %s\n", m.ref(), o.why(m))
		case err == nil && m.idle():
			err = o.unchanged(m, o.why(m))
		}
		if err != nil {
			errs.Add(err)
			if m.session != nil {
				m.session.Close()
			}
			continue
		}
		r.add(m)
	}
	if err := errs.Err(); err != nil {
		return err
	}
	return r.assemble(&o.group, append(o.Sources(), o.selector)...)
}

// make opens a workload and makes its plan. Where that fails, the member may be open.
func (o *runOptions) make(ctx context.Context, one planning.One) (*member, error) {
	m := &member{called: one.Name}
	manifest, name, namespace, err := one.Which(ctx)
	if err != nil {
		return m, err
	}
	m.called = name
	snapshot, err := o.present(ctx, m, namespace)
	if err != nil {
		return m, err
	}
	object := m.session.object
	if o.as != nil {
		m.desired, m.same, err = o.as.make(object, snapshot)
	} else {
		m.desired, err = one.Desired(ctx, manifest, object)
	}
	if err != nil {
		return m, err
	}
	if err := planning.Admit(object, m.desired, snapshot.Gates.Release); err != nil {
		return m, err
	}
	if err := o.ready(ctx, m); err != nil {
		return m, err
	}
	made, err := one.Plan(ctx, object, snapshot, m.desired)
	if err != nil {
		return m, err
	}
	return m, m.take(made)
}

// ready is asked before the plan is made: whether a plan is what there is to make,
// and whether its result can be written back.
func (o *runOptions) ready(ctx context.Context, m *member) error {
	if err := o.findManifest(m); err != nil {
		return err
	}
	o.warnOfOwners(m.session.object)
	if err := m.session.parent.allows(m.session.object, m.desired); err != nil {
		return err
	}
	r, err := o.releaseOf(ctx, m.session)
	if err != nil || r == nil {
		return err
	}
	return &controlledError{r, m.desired}
}

// present opens the workload, and is what the plan is made from. No plan is shown or asked about
// that cannot be begun, since another rollout is in progress; a group continues that.
func (o *runOptions) present(ctx context.Context, m *member, namespace string) (plan.Snapshot, error) {
	if err := o.discardUnreadable(ctx, m.called, namespace); err != nil {
		return plan.Snapshot{}, err
	}
	begins := plan.TransitionBegin
	if o.back {
		begins = plan.TransitionUndo
	}
	for {
		s, err := o.locateIn(ctx, m.called, namespace)
		if err != nil {
			return plan.Snapshot{}, err
		}
		if err := o.watch(ctx, s); err != nil {
			return plan.Snapshot{}, err
		}
		m.session = s
		refused := apply.Idle(s, begins)
		if refused == nil || o.group.given {
			return s.Observe(ctx, s.target.Ref)
		}
		if o.dry().Only() {
			return plan.Snapshot{}, refused
		}
		if err := o.replaceOngoing(ctx, s, refused, "End it where it is, and plan this one instead?"); err != nil {
			return plan.Snapshot{}, err
		}
		s.Close() // it is read again, as it was left
		m.session = nil
	}
}

// discardUnreadable deletes the record of a workload where --discard-record asks for that and it
// cannot be read. A person answers for it by itself: the history in it is lost.
func (o *runOptions) discardUnreadable(ctx context.Context, name resourcearg.Name, namespace string) error {
	if !o.discardRecord {
		return nil
	}
	s, err := o.locateIn(ctx, name, namespace)
	if err != nil {
		return err
	}
	records, err := o.records()
	if err != nil {
		return err
	}
	_, err = records.Load(ctx, s.target.Ref)
	if _, unreadable := errors.AsType[apply.UnreadableRecordError](err); !unreadable {
		return nil // what else is wrong stops the rollout below
	}
	if err := o.ask(ctx, o.agreed(), fmt.Sprintf("%v.\nDelete it, its plan and its history? %s stays as it is.", err, s.target)); err != nil {
		return err
	}
	if err := records.Discard(ctx, s.target.Ref, holder(), o.printWaiting); err != nil {
		return withHint(err)
	}
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "the record of %s was deleted\n", s.target)
	return nil
}

// start records a plan and carries it out.
func (d *execution) start(ctx context.Context, s *session, p plan.Plan) (apply.Result, error) {
	rollouts, err := d.rollouts()
	if err != nil {
		return apply.Result{}, err
	}
	if err := d.commands(p.Commands(0), "the plan"); err != nil {
		return apply.Result{}, err
	}
	s.AllowVerify(d.authority.asks)
	e, err := rollouts.Begin(ctx, s, p)
	if err != nil {
		return apply.Result{}, withHint(err)
	}
	return d.carryOut(ctx, s, e, nil)
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
	case o.output != outputs[0] || o.into != "" || o.timeout != 0 || o.atPause || len(o.notifications.urls) > 0 || o.notifications.listen != "":
		return command.Usagef("leave one of them out", "--ui does not go with -o, --write-back, --timeout, --exit-on-pause, --success-on, --notify and --listen")
	}
	return tty.Check(o.factory.Streams, "leave --ui out")
}

func oneOnScreens() error {
	return command.Usagef("name one workload; 'kubectl kruise ui' shows those of a namespace", "--ui is for the rollout of one workload")
}

// onScreens carries the plan of one workload out while the terminal interface shows it. Leaving the
// interface leaves the rollout where it is.
func (o *runOptions) onScreens(ctx context.Context, r *rolling) error {
	m := r.members[0]
	r.close()
	live := NewLiveRollouts(ctx, o.factory, o.stateNamespace)
	defer live.Close()
	live.authority = o.authority
	at, _ := live.sessions()
	if err := live.start(at, m.ref(), func(context.Context, *session) (plan.Plan, error) { return m.plan, nil }); err != nil {
		return err
	}
	if err := o.screens(ctx, o.factory, live, m.ref()); err != nil {
		return err
	}
	return live.ended(m.ref(), &o.execution)
}

// ended is how a rollout came out that was begun by the interface, as an error.
func (d *LiveRollouts) ended(ref cluster.Ref, as *execution) error {
	d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e, ok := d.ends[ref]; {
	case !ok:
		return command.ErrInterrupted
	case e.err != nil:
		return e.err
	default:
		return as.end(e.result)
	}
}
