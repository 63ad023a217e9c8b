package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type statusOptions struct {
	execute.Execution

	names    []resourcearg.Name
	types    []string
	selector string
	watch    bool
	// wide has every workload of the namespace looked at, everywhere those of all.
	wide, everywhere bool
	// rollout is the name of an object of Kruise Rollout; "" for a workload.
	rollout  string
	detail   bool
	revision int64
	files    session.Objects
	group    string
}

const statusLong = `Show the status of a rollout and what it is waiting for. For a workload without a
recorded rollout, or after one whose template is no longer that of the workload, it
reports whether its controller has reached the desired state: every pod that the spec
lets be updated is updated and ready. Nothing is written.

One workload is watched until its rollout ends, and the exit code is its result; with
--watch=false, or with several workloads, the status is shown once.

With -A, or without a name, it lists the workloads of all namespaces, or of one, that
have a rollout in progress or are not up to date, one per line. It sends one request for
each kind of object, however many there are. The exit code is 3 if a rollout has
failed, else 0. It needs the permissions of the terminal interface: kubectl kruise rbac
--driver "" --features ui.`

const statusExamples = `  kubectl kruise rollout status cloneset/web --timeout 10m
  kubectl kruise rollout status cloneset/web --watch=false
  kubectl kruise rollout status -l team=shop

  # rollouts in progress in all namespaces; CloneSets of one namespace, as JSON
  kubectl kruise rollout status -A
  kubectl kruise rollout status cloneset -n shop -o json`

func newStatus(shared *session.Client) *cobra.Command {
	o := &statusOptions{Execution: execute.Execution{Client: shared}, files: session.Objects{United: session.AsSubsets}}
	return o.command()
}

func (o *statusOptions) command() *cobra.Command {
	c := &cobra.Command{
		Use: "status (TYPE/NAME... | TYPE NAME | [TYPE] -l SELECTOR | -f FILE | [TYPE] -A | -n NAMESPACE)", Short: "Show the status of a rollout",
		Long: statusLong, Example: statusExamples,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(c, args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: resourcearg.CompleteNames(o.Factory),
	}
	o.AddExecutionFlags(c)
	c.Flags().BoolVarP(&o.watch, "watch", "w", true, "watch until the rollout ends (default for one workload)")
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "show all workloads that match this label selector")
	c.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "list rollouts in progress in all namespaces")
	c.Flags().BoolVarP(&o.detail, "detail", "d", false, "also list updated pods, ready and not ready")
	c.Flags().Int64Var(&o.revision, "revision", 0, "fail unless this revision is the present one")
	o.files.AddFlags(c)
	addGroupFlag(c, &o.group)
	c.Flags().Lookup("group").Usage = "show all rollouts of the group of this name, once; with --watch until it ends"
	return c
}

func (o *statusOptions) complete(c *cobra.Command, args []string) (err error) {
	if err := o.Check(); err != nil {
		return err
	}
	if o.revision < 0 {
		return command.Usagef("", "revision must be a positive integer: %d", o.revision)
	}
	if o.group != "" {
		if len(args) > 0 {
			return errGroupAndName()
		}
		o.watch = o.watch && c.Flags().Changed("watch")
		return nil
	}
	if o.wide = o.isWide(args); o.wide {
		o.types = args
		return o.validWide(c)
	}
	if o.selector == "" {
		if args, err = o.Names(c.Context(), &o.files, args); err != nil {
			return err
		}
	}
	if !c.Flags().Changed("watch") && (o.selector != "" || len(args) > 1) {
		o.watch = false
	}
	if o.selector != "" {
		o.types = args
		return session.Bare(args)
	}
	return o.name(args)
}

// name takes what is named: one object of Kruise Rollout, or workloads.
func (o *statusOptions) name(args []string) error {
	if len(args) == 1 {
		var ok bool
		if o.rollout, ok = session.ReleaseNamed(args[0]); ok {
			return nil
		}
	}
	for _, arg := range args {
		name, err := resourcearg.ParseAny(arg)
		if err != nil {
			return err
		}
		o.names = append(o.names, name)
	}
	return nil
}

func (o *statusOptions) run(ctx context.Context) (err error) {
	switch {
	case o.group != "":
		return o.groupStatusOf(ctx)
	case o.wide:
		return o.overview(ctx)
	case o.rollout != "":
		r, err := o.ReleaseNamed(ctx, o.rollout)
		if err != nil {
			return err
		}
		return o.tellRelease(ctx, r)
	}
	if o.selector != "" {
		if o.names, err = o.SelectedWorkloads(ctx, o.types, o.selector); err != nil {
			return err
		}
	}
	switch {
	case len(o.names) == 1:
		return o.showOne(ctx, o.names[0])
	case o.watch:
		return o.showEach(ctx)
	}
	return o.showAll(ctx)
}

// showEach shows several workloads one after the other, each until its rollout ends, as long as none
// fails.
func (o *statusOptions) showEach(ctx context.Context) (worst error) {
	for i, name := range o.names {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "%d of %d: %s\n", i+1, len(o.names), name)
		err := o.showOne(ctx, name)
		if worst = execute.Worse(worst, err); err != nil && !errors.Is(err, command.ErrPaused) {
			break
		}
	}
	return worst
}

// showOne shows one workload, once or until its rollout ends.
func (o *statusOptions) showOne(ctx context.Context, name resourcearg.Name) error {
	s, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if r, err := o.ReleaseOf(ctx, s); err == nil && r != nil {
		return o.tellRelease(ctx, r)
	}
	status, err := o.readStatus(ctx, s)
	if err != nil {
		return err
	}
	if err := o.expected(ctx, s); err != nil {
		return err
	}
	if o.watch {
		return errors.Join(o.follow(ctx, s, status), o.details(ctx, s))
	}
	if o.Output == "json" {
		return view.JSON(o.Factory.Streams.Out, status.JSON())
	}
	if err := view.Status(o.Factory.Streams.Out, status, o.Factory.OutStyle(false)); err != nil {
		return err
	}
	if err := o.details(ctx, s); err != nil {
		return err
	}
	return o.errorOf(status.Decision)
}

// readStatus reads the present status of a workload.
func (o *statusOptions) readStatus(ctx context.Context, s *session.Session) (view.RolloutStatus, error) {
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return view.RolloutStatus{}, err
	}
	rec, err := s.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return view.RolloutStatus{}, err
	}
	now := s.Now()
	if !rec.IsCurrent(snapshot, now) {
		rec = plan.Record{Ref: s.Target.Ref}
		rec.Plan, snapshot = plan.ForSpec(snapshot)
	}
	status := view.RolloutStatus{
		Name: s.Target.String(), Plan: rec.Plan, Decision: plan.Next(rec.Plan, snapshot, now), Tally: plan.Count(rec.Plan, snapshot),
		Progress: rec.Progress, Begun: rec.Begun, Times: rec.Times, Now: now,
	}
	if rollouts, err := o.Rollouts(); err == nil {
		status.Holder, _ = rollouts.Holder(ctx, rec.Ref) // the executor is shown where it may be read
	}
	return status, nil
}

// showAll shows several workloads, each in a line; the error is the worst of theirs.
func (o *statusOptions) showAll(ctx context.Context) error {
	var list []view.RolloutStatus
	for _, name := range o.names {
		status, err := o.statusOnce(ctx, name)
		if err != nil {
			return err
		}
		list = append(list, status)
	}
	return o.printAll(list)
}

// printAll writes a line for each; the error is the worst of theirs.
func (o *statusOptions) printAll(list []view.RolloutStatus) error {
	data := make([]any, len(list))
	var worst error
	for i := range list {
		data[i] = list[i].JSON()
		worst = execute.Worse(worst, o.errorOf(list[i].Decision))
	}
	if o.Output == "json" {
		return cmp.Or(view.JSON(o.Factory.Streams.Out, data), worst)
	}
	return cmp.Or(view.StatusLines(o.Factory.Streams.Out, list, o.Factory.OutStyle(false)), worst)
}

// statusOnce opens a workload for one look; one that Kruise Rollout controls has the status that
// says.
func (o *statusOptions) statusOnce(ctx context.Context, name resourcearg.Name) (view.RolloutStatus, error) {
	s, err := o.Open(ctx, name)
	if err != nil {
		return view.RolloutStatus{}, err
	}
	defer s.Close()
	status, err := o.readStatus(ctx, s)
	if r, rerr := o.ReleaseOf(ctx, s); rerr == nil && err == nil {
		setReleaseStatus(&status, r)
	}
	return status, err
}

// setReleaseStatus gives a workload the status of the Rollout that controls it, if one does.
func setReleaseStatus(status *view.RolloutStatus, r *release.Rollout) {
	if r != nil && r.Controls() {
		status.Decision = plan.Decision{Verb: plan.Wait, Reason: "Kruise Rollout " + r.Name + ": " + r.Describe()}
	}
}

// follow shows the rollout until it ends; without one that is about the workload as it is now,
// what becomes of the pods by its spec.
func (o *statusOptions) follow(ctx context.Context, s *session.Session, status view.RolloutStatus) error {
	if status.Decision.Verb == plan.Done && o.endsAsKubectl(s, &status.Plan) {
		return o.rolledOut(s)
	}
	t := o.EventPrinter(o.Factory.WithConnection(status.Plan.Target.Command("promote")))
	defer t.Stop()
	how := apply.Options{Emit: t.Event, AtPause: o.AtPause, Until: apply.TimeIn(s, o.Until())}
	var res apply.Result
	var err error
	if status.Begun.IsZero() {
		res, err = apply.WatchSpec(ctx, s, s.Target.Ref, how)
	} else {
		res, err = apply.Watch(ctx, s, s.Target.Ref, status.Plan, how)
	}
	if err != nil {
		return err
	}
	if res.Outcome == event.Failed && !status.Begun.IsZero() {
		o.PrintNext(s, res)
	}
	if res.Outcome == event.Completed && o.endsAsKubectl(s, &res.Plan) {
		return o.rolledOut(s)
	}
	return o.Ending(res)
}

// endsAsKubectl reports whether a rollout that is completed ends with kubectl's line: one that has rolled back, or
// has restarted a pod, is told by its own sentence.
func (o *statusOptions) endsAsKubectl(s *session.Session, of *plan.Plan) bool {
	return !o.Machine() && s.Target.Kind != "Pod" && plan.StatusOf(of, plan.Progress{}, plan.Decision{Verb: plan.Done}, false).State == plan.StatusCompleted
}

// rolledOut prints kubectl's last line, which scripts look for; of a workload that is up to date it is the only one.
func (o *statusOptions) rolledOut(s *session.Session) error {
	_, err := fmt.Fprintf(o.Factory.Streams.Out, "%s %q successfully rolled out\n", strings.ToLower(s.Target.Kind), s.Target.Name)
	return err
}

// errorOf is the exit code of a look.
func (o *statusOptions) errorOf(d plan.Decision) error {
	if d.Verb == plan.Halt {
		return command.ErrFailed
	}
	return nil
}

// expected fails unless the revision that was asked for is the present one.
func (o *statusOptions) expected(ctx context.Context, s *session.Session) error {
	if o.revision == 0 {
		return nil
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	now, _ := rules.FindRevision(plan.Revisions(snapshot), snapshot.Object().Template)
	if now.Number != o.revision {
		return fmt.Errorf("desired revision (%d) is different from the running revision (%d)", o.revision, now.Number)
	}
	return nil
}

// details names the updated pods, in the older plugin's words.
func (o *statusOptions) details(ctx context.Context, s *session.Session) error {
	if !o.detail || o.Output == "json" {
		return nil
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	ready, not := updatedPods(snapshot)
	_, err = fmt.Fprintf(o.Factory.Streams.Out, "Updated ready pods: [%s]\nUpdated not ready pods: [%s]\n", strings.Join(ready, " "), strings.Join(not, " "))
	return err
}

// updatedPods are the pods of the present template.
func updatedPods(s plan.Snapshot) (ready, not []string) {
	w := s.Object()
	now, ok := rules.FindRevision(plan.Revisions(s), w.Template)
	for _, p := range s.Members() {
		switch {
		case !ok || !rules.Active(p) || !plan.MadeFrom(w, p, now):
		case rules.Ready(p):
			ready = append(ready, p.Name)
		default:
			not = append(not, p.Name)
		}
	}
	slices.Sort(ready)
	slices.Sort(not)
	return ready, not
}
