package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	tty "github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

type runOptions struct {
	driving
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

Several workloads, given with -l or in the files of -f, are rolled out one after the
other: each with its own plan and confirmation, and none after one that failed. With
--parallel, --max-unavailable-total, --max-failures, --wave-by or --group they are a
group: all plans are shown and simulated together, one confirmation is for the whole,
and "rollout status", "pause", "promote", "resume", "retry" and "abort" work on it with
--group NAME. The annotation kubectl-kruise.dev/depends-on names workloads, such as
statefulset/db, that have to be completed before the one that carries it starts.

Ctrl-C stops the command and leaves the rollout as it is; "rollout resume" continues it.`

const runExamples = `  kubectl kruise rollout run cloneset/web --image app=registry.example.com/web:2
  kubectl kruise rollout run -f web.yaml --steps 1,50%,100% --pause-after 1 --yes
  kubectl kruise rollout run sidecarset/mesh --image mesh=registry.example.com/mesh:2 --on-failure rollback -o json

  # all workloads of a directory, in the waves of their annotation, ten at a time
  kubectl kruise rollout run -f shop/ --wave-by argocd.argoproj.io/sync-wave --parallel 10 --max-unavailable-total 5%`

func newRun(shared *common, screens Screens) *cobra.Command {
	o := &runOptions{driving: driving{common: shared}, Options: planning.Options{Factory: shared.factory, Gates: &shared.reader}, screens: screens}
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
	o.detach.addFlags(c, &o.tells, true)
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

// runAll rolls out what the command line means: one workload, or several one after
// the other.
func (o *runOptions) runAll(ctx context.Context) (err error) {
	o.flags = o.Given
	switch {
	case o.united != "" && o.group.given:
		return command.Usagef("its subsets follow one after the other", "--%s are not for a UnitedDeployment", strings.Join(groupFlagNames, ", --"))
	case o.united != "":
		if err := o.refuseDetach(); err != nil {
			return err
		}
		var of remake
		if o.Images() {
			of = inTemplate(o.SetImages)
		}
		return o.runUnited(ctx, o.united, of)
	case o.group.given:
		return groupOfRun{o}.run(ctx)
	}
	var names []resourcearg.Name
	if o.selector != "" {
		names, err = o.selected(ctx, o.types, o.selector)
	} else {
		names, err = o.Workloads(ctx)
	}
	switch {
	case err != nil:
		return err
	case len(names) == 1 && o.selector != "":
		return o.memberOf(names[0]).run(ctx)
	case len(names) > 1 && o.ui:
		return oneOnScreens()
	case len(names) > 1 && o.detach.on:
		return o.refuseDetach()
	case len(names) > 1:
		return o.several(names, func(n resourcearg.Name) error { return o.memberOf(n).run(ctx) })
	}
	return (&member{runOptions: o, policy: o.Options}).run(ctx)
}

// member is the rollout of one workload that a verb makes by its flags, from the plan to its end.
type member struct {
	*runOptions

	// policy is how the plan of this one is made.
	policy planning.Options
	// session is the workload, called and desired are what the command line named, and made of it.
	session *session
	called  resourcearg.Name
	desired *resource.Resource
	// manifest is the document that the new state is written to in the end.
	manifest *gitops.Manifest
	// same is what is printed where nothing is left to do; "" for the plan's words.
	same string
}

// memberOf is the rollout of a workload.
func (o *runOptions) memberOf(n resourcearg.Name) *member {
	return &member{runOptions: o, policy: o.For(n)}
}

// make makes the plan. The workload is open from then on, until the member is closed.
func (m *member) make(ctx context.Context, present func(context.Context, resourcearg.Name, string) (*resource.Resource, plan.Snapshot, error)) (*planning.Made, error) {
	m.policy.Present, m.policy.Check = present, m.ready
	return m.policy.Make(ctx)
}

// close ends the watches.
func (m *member) close() {
	if m.session != nil {
		m.session.Close()
	}
}

// run makes the plan, shows it, asks, and carries it out.
func (m *member) run(ctx context.Context) error {
	defer m.close()
	made, err := m.make(ctx, m.present)
	if h, ok := errors.AsType[*controlledError](err); ok {
		return m.handOver(ctx, h)
	}
	if err != nil {
		return err
	}
	p := made.Plan
	if len(p.Steps) == 0 {
		return m.unchanged(p.Change.Why)
	}
	if err := view.Plan(m.factory.Streams.Err, p, &made.Predicted.Summary, view.Style{Color: m.factory.ColorErr()}); err != nil {
		return err
	}
	switch {
	case m.detach.manifest:
		return m.jobs().printManifest(ctx, m.session, p)
	case m.dry().Only():
		return errors.Join(m.previewRequests(ctx, m.session, p, made.Acts), m.jobs().previewJob(ctx, m.session, p), m.preview(ctx))
	}
	if err := m.allowNamedCommands(&p); err != nil {
		return err
	}
	if err := m.ask(ctx, m.yes, "Roll out "+m.session.target.String()+"?"); err != nil {
		return err
	}
	return m.carry(ctx, p)
}

// carry carries a plan out, and says and writes what follows from its end.
func (m *member) carry(ctx context.Context, p plan.Plan) error {
	switch {
	case m.ui:
		return m.onScreens(ctx, p)
	case m.detach.on:
		return m.jobs().begin(ctx, m.session, p)
	}
	res, err := m.start(ctx, m.session, p)
	if err != nil {
		return err
	}
	if res.Outcome == event.Completed {
		return errors.Join(m.writeBack(ctx), m.changed(ctx))
	}
	return m.end(res)
}

// ready is asked before the plan is made: whether a plan is what there is to make,
// and whether its result can be written back.
func (m *member) ready(ctx context.Context, object, desired *resource.Resource) error {
	m.desired = desired
	if err := m.findManifest(); err != nil {
		return err
	}
	m.warnOfOwners(object)
	if err := m.session.parent.allows(object, desired); err != nil {
		return err
	}
	return m.handed(ctx, desired)
}

// present opens the workload, and is what the plan is made from.
func (m *member) present(ctx context.Context, name resourcearg.Name, namespace string) (*resource.Resource, plan.Snapshot, error) {
	m.factory.Flags.Namespace = &namespace
	if err := m.discardUnreadable(ctx, name); err != nil {
		return nil, plan.Snapshot{}, err
	}
	s, err := m.open(ctx, name)
	if err != nil {
		return nil, plan.Snapshot{}, err
	}
	m.session, m.called = s, name
	if refused := m.idle(s); refused != nil {
		if m.dry().Only() {
			return nil, plan.Snapshot{}, refused
		}
		if err := m.replaceOngoing(ctx, s, refused, "End it where it is, and plan this one instead?"); err != nil {
			return nil, plan.Snapshot{}, err
		}
		s.Close()
		return m.present(ctx, name, namespace) // as it was left
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	return s.object, snapshot, err
}

// discardUnreadable deletes the record of a workload where --discard-record asks for that and it
// cannot be read. A person answers for it by itself: the history in it is lost.
func (m *member) discardUnreadable(ctx context.Context, name resourcearg.Name) error {
	if !m.discardRecord {
		return nil
	}
	s, err := m.locate(ctx, name)
	if err != nil {
		return err
	}
	records, err := m.records()
	if err != nil {
		return err
	}
	_, err = records.Load(ctx, s.target.Ref)
	if _, unreadable := errors.AsType[apply.UnreadableRecordError](err); !unreadable {
		return nil // what else is wrong stops the rollout below
	}
	if err := m.ask(ctx, m.yes, fmt.Sprintf("%v.\nDelete it, its plan and its history? %s stays as it is.", err, s.target)); err != nil {
		return err
	}
	if err := records.Discard(ctx, s.target.Ref, m.holder(), m.printWaiting); err != nil {
		return withHint(err)
	}
	_, _ = fmt.Fprintf(m.factory.Streams.Err, "the record of %s was deleted\n", s.target)
	return nil
}

// idle reports an error where another rollout of the workload is in progress: no
// plan is shown or asked about that cannot be begun.
func (m *member) idle(s *session) error {
	if m.back {
		return apply.Idle(s, plan.TransitionUndo)
	}
	return apply.Idle(s, plan.TransitionBegin)
}

// begin records a plan and carries it out.
func (d *driving) begin(ctx context.Context, s *session, p plan.Plan) error {
	if d.detach.on {
		return d.jobs().begin(ctx, s, p)
	}
	res, err := d.start(ctx, s, p)
	if err != nil {
		return err
	}
	return d.end(res)
}

func (d *driving) start(ctx context.Context, s *session, p plan.Plan) (apply.Result, error) {
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
	return d.carryOut(ctx, s, e)
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
	case o.output != outputs[0] || o.into != "" || o.timeout != 0 || o.atPause || len(o.tells.urls) > 0 || o.tells.listen != "":
		return command.Usagef("leave one of them out", "--ui does not go with -o, --write-back, --timeout, --exit-on-pause, --success-on, --notify and --listen")
	}
	return tty.Check(o.factory.Streams, "leave --ui out")
}

func oneOnScreens() error {
	return command.Usagef("name one workload; 'kubectl kruise ui' shows those of a namespace", "--ui is for the rollout of one workload")
}

// onScreens carries a plan out while the terminal interface shows it. Leaving the interface
// leaves the rollout where it is.
func (m *member) onScreens(ctx context.Context, p plan.Plan) error {
	ref := m.session.target.Ref
	m.session.Close()
	desk := NewLiveRollouts(ctx, m.factory, m.stateNamespace)
	defer desk.Close()
	desk.authority = m.authority
	at, _ := desk.sessions()
	if err := desk.start(at, ref, func(context.Context, *session) (plan.Plan, error) { return p, nil }); err != nil {
		return err
	}
	if err := m.screens(ctx, m.factory, desk, ref); err != nil {
		return err
	}
	return desk.ended(ref, &m.driving)
}

// ended is how a rollout came out that was begun at the desk, as an error.
func (d *LiveRollouts) ended(ref cluster.Ref, as *driving) error {
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
