package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// driveOptions are those of the process in a Job of --detach.
type driveOptions struct {
	execute.Execution

	name resourcearg.Name
	// group is the name of a group that is carried out; "" for one workload.
	group string
	// back is the hash of the one template to which a failed step may take the workload back.
	back string
}

const driveLong = `Carry out the recorded rollout, as the Job of 'rollout run --detach' does. The recorded
plan must be the one that was approved: its digest is in --approved. There is no prompt;
an edited plan is refused.

The process may be killed at any time. Run again, it continues from the record; for a
rollout that has ended, it exits with the same code. A pause stays in force. While
another process carries out the rollout, this one waits, and continues when it stops.

Exit code 3 means that the rollout failed, was aborted or rolled back, or may not be
carried out; running it again would not change that.`

func newDrive(shared *session.Client) *cobra.Command {
	o := &driveOptions{Execution: execute.Execution{Client: shared, Flags: execute.Flags{SuccessOn: "complete"}}}
	c := &cobra.Command{
		Hidden: true, Use: "drive (TYPE/NAME | --group NAME) --approved DIGEST", Short: "Carry out a recorded rollout, as the Job of --detach does", Long: driveLong,
		Example: "  kubectl kruise rollout drive cloneset/web --approved sha256:5fb1… --back-to 7c9d…",
		RunE: func(c *cobra.Command, args []string) (err error) {
			switch {
			case o.group == "":
				o.name, err = resourcearg.ParseOne(args)
			case len(args) > 0:
				err = errGroupAndName()
			default:
				err = o.Notifications.CheckGroup()
			}
			if err != nil {
				return err
			}
			if o.Authority.Digest == "" {
				return command.Usagef("the digest that 'rollout run' printed", "--approved is missing")
			}
			if err := o.Notifications.Check(); err != nil {
				return err
			}
			stop, err := o.Serve()
			if err != nil {
				return err
			}
			defer stop()
			return o.run(c.Context())
		},
	}
	fl := c.Flags()
	fl.StringVarP(&o.Output, "output", "o", execute.Outputs[0], "text, or json: one event a line")
	command.Offer(c, "output", execute.Outputs...)
	fl.StringVar(&o.Authority.Digest, "approved", "", "digest of the plan that may be carried out")
	fl.StringVar(&o.group, "group", "", "name of a recorded group of rollouts, instead of TYPE/NAME")
	fl.StringVar(&o.back, "back-to", "", "hash of the template to which a failed step may go back; empty is none")
	fl.StringVar(&o.Authority.File, "plan", "", "file with the plan, or with the group and its plans, which is recorded unless it already is")
	_ = c.MarkFlagFilename("plan", "yaml", "yml", "json")
	fl.IntVar(&o.First, "from", 0, "index of the first step that may be carried out")
	fl.BoolVar(&o.Authority.Asks.LinkLocal, "allow-link-local", false, "let verify steps ask link-local addresses and metadata services")
	o.Notifications.AddFlags(c)
	c.ValidArgsFunction = resourcearg.CompleteNames(shared.Factory)
	cmdutil.AddFieldManagerFlagVar(c, &o.Manager, session.FieldManager)
	return c
}

// standby is how long a runner waits between two looks at a rollout that another process
// drives.
const standby = 5 * time.Second

// run drives the rollout until it has ended, whatever process drives it meanwhile.
func (o *driveOptions) run(ctx context.Context) error {
	once := o.once
	if o.group != "" {
		once = o.onceGroup
	}
	told := false
	for {
		err := once(ctx)
		if !errors.Is(err, plan.ErrOtherExecutor) {
			return o.final(err)
		}
		if !told {
			_, _ = fmt.Fprintf(o.Factory.Streams.Err, "%v; this runner continues when that process stops\n", err)
			told = true
		}
		select {
		case <-ctx.Done():
			return command.ErrInterrupted
		case <-time.After(standby):
		}
	}
}

// final has what no other run could change end the Job.
func (o *driveOptions) final(err error) error {
	_, denied := errors.AsType[*apply.DeniedError](err)
	_, unapproved := errors.AsType[*apply.UnapprovedError](err)
	// Of a record: another version of the program has written it, or a person.
	_, unreadable := errors.AsType[apply.UnreadableRecordError](err)
	if denied || unapproved || unreadable || errors.Is(err, plan.ErrNoRollout) || errors.Is(err, plan.ErrNoGroup) {
		return &command.FailedError{Err: err}
	}
	return err
}

// once drives the rollout as far as this process can. The error wraps plan.ErrOtherExecutor where
// another one does.
func (o *driveOptions) once(ctx context.Context) error {
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	s, err := o.Open(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	known := &runnerApprovals{driveOptions: o, digests: []string{o.Authority.Digest}, back: map[cluster.Ref]string{s.Target.Ref: o.back}}
	rollouts.Approvals = known
	s.AllowVerify(o.Authority.Asks)
	rec, err := s.Rollout()
	if err != nil && !errors.Is(err, plan.ErrNoRollout) {
		return err
	}
	mine, proof := false, err
	if err == nil {
		mine, proof = known.Approved(ctx, rec.Plan)
	}
	switch {
	case proof != nil && o.Authority.File != "" && (err != nil || !rec.InFlight()):
		return o.begins(ctx, known, s)
	case proof != nil:
		return proof
	}
	if ended, err := o.hasEnded(ctx, s, rec, mine); ended {
		return err
	}
	e, err := rollouts.TakeOver(ctx, s)
	if err != nil {
		return session.WithHint(err)
	}
	// The process that had it may have completed it while this one waited for the Lease.
	if now, err := e.Record(); err == nil {
		mine, _ = known.Approved(ctx, now.Plan) // the hold was given for it
		if ended, err := o.hasEnded(ctx, s, now, mine); ended {
			e.Release()
			return err
		}
	}
	return o.drives(ctx, s, e, nil)
}

// hasEnded reports whether nothing is left of a rollout, and how it ended. mine says that its
// plan is the approved one, and not the way back from it. How far it has come is in no digest, so that a
// record which says that it is completed is compared with the workload.
func (o *driveOptions) hasEnded(ctx context.Context, s *session.Session, rec plan.Record, mine bool) (ended bool, err error) {
	w := o.Factory.Streams.Err
	switch {
	case rec.State() == plan.StateDone && !mine:
		_, _ = fmt.Fprintln(w, "rolled back: "+rec.Plan.RollbackReason)
		return true, command.ErrFailed
	case rec.State() == plan.StateDone:
		snapshot, err := s.Observe(ctx, s.Target.Ref)
		if err == nil && !rec.IsDelivered(snapshot) {
			err = &command.FailedError{Err: fmt.Errorf("%s: %w", s.Target, apply.ErrNotDelivered)}
		}
		if err == nil {
			_, _ = fmt.Fprintln(w, "completed already")
		}
		return true, err
	case rec.Progress.Aborted:
		_, _ = fmt.Fprintln(w, rec.Progress.Failed)
		return true, command.ErrFailed
	}
	return false, nil
}

// begins carries out the rollout of --plan, which is not recorded yet: one workload that is open, or a group.
func (o *driveOptions) begins(ctx context.Context, known *runnerApprovals, s *session.Session) error {
	rec, err := execute.ReadRollout(o.Authority.File, o.group)
	if err == nil {
		err = known.accept(ctx, &rec)
	}
	if err != nil {
		return &command.FailedError{Err: fmt.Errorf("the plan in %s: %w", o.Authority.File, err)}
	}
	r := &execute.Rolling{Execution: &o.Execution, Record: rec}
	defer r.CloseAll()
	for _, m := range rec.Members {
		one := &execute.Member{Session: s, Plan: m.Plan}
		if s == nil {
			if one.Session, err = o.OpenRef(ctx, m.Ref); err != nil {
				return err
			}
			r.Members = append(r.Members, one) // to be closed here
		}
		// The digest has every write in it: what the plan says of itself was read by the person.
		_, err := session.Starts(ctx, one.Session, m.Plan)
		if _, misfit := errors.AsType[*session.HaltError](err); misfit {
			return &command.FailedError{Err: fmt.Errorf("%s: %w", rec.MemberName(m.Ref), err)}
		}
		if err != nil {
			return err
		}
	}
	rollouts, err := o.Rollouts()
	if err != nil {
		return err
	}
	rollouts.Approvals = known
	if o.group == "" {
		e, err := rollouts.Begin(ctx, s, rec.Members[0].Plan)
		return o.drives(ctx, s, e, err)
	}
	if err := beginsAfter(ctx, rollouts, &rec); err != nil {
		return err
	}
	rec.By = session.Holder()
	groups, err := o.Groups(known, r.Sessions())
	if err != nil {
		return err
	}
	opt, stop, err := o.GroupOptions(ctx, rec)
	if err != nil {
		return err
	}
	defer stop()
	r.Closed = true
	res, err := groups.Begin(ctx, rec, &opt)
	return o.groupEnds(rec, res, err)
}

// beginsAfter fills in when the rollout was begun that each member has recorded now: the group
// begins after those.
func beginsAfter(ctx context.Context, rollouts apply.Rollouts, rec *plan.Rollout) error {
	for i, m := range rec.Members {
		one, err := rollouts.Get(ctx, m.Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return err
		}
		if err == nil {
			rec.Members[i].Before = one.Begun
		}
	}
	return nil
}

// onceGroup carries a group out as far as this process can. The error wraps
// plan.ErrOtherExecutor where another one does.
func (o *driveOptions) onceGroup(ctx context.Context) error {
	end, err := o.Share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	known := &runnerApprovals{driveOptions: o}
	groups, err := o.Groups(known, nil)
	if err != nil {
		return err
	}
	rec, err := groups.Records.Load(ctx, namespace, o.group)
	if err == nil {
		err = known.accept(ctx, &rec)
	}
	_, unapproved := errors.AsType[*apply.UnapprovedError](err)
	switch {
	case o.Authority.File != "" && (errors.Is(err, plan.ErrNoGroup) || unapproved && !rec.Finished.IsZero()):
		return o.begins(ctx, known, nil)
	case err != nil:
		return err
	}
	opt, stop, err := o.GroupOptions(ctx, rec)
	if err != nil {
		return err
	}
	defer stop()
	opt.Back = rec.Back // who has it rolled back may be gone
	approved := func(now plan.Rollout) (bool, error) { return true, known.accept(ctx, &now) }
	res, err := groups.Resume(ctx, rec.Namespace, rec.Name, approved, &opt)
	if res.Ended == event.Completed && !rec.Finished.IsZero() {
		_, _ = fmt.Fprintln(o.Factory.Streams.Err, "completed already")
	}
	return o.groupEnds(rec, res, err)
}

// groupEnds is how the run of a group ended here. What kept a rollout from being carried out
// here ends the Job only where no other process could do better.
func (o *driveOptions) groupEnds(rec plan.Rollout, res apply.GroupResult, err error) error {
	switch {
	case err != nil:
		return execute.GroupHinted(rec.Name, err)
	case res.Ended == event.RolledBack:
		return errors.Join(o.GroupEnded(rec, res), command.ErrFailed)
	}
	if err := o.GroupEnded(rec, res); err == nil || res.Faults == nil {
		return err
	}
	return fmt.Errorf("a rollout could not be carried out here: %w", res.Faults)
}

// drives carries out what was taken over.
func (o *driveOptions) drives(ctx context.Context, s *session.Session, e *apply.Executor, err error) error {
	if err != nil {
		return session.WithHint(err)
	}
	res, err := o.CarryOut(ctx, s, e, nil)
	if err != nil {
		return err
	}
	return o.Ending(res)
}

// runnerApprovals are the approvals of a runner: the digest in its arguments, of a plan or of a group with its plans, and
// the ways back from these plans.
type runnerApprovals struct {
	*driveOptions

	// digests are those of the plans, back the hashes of the templates to which the ways back may lead.
	digests []string
	back    map[cluster.Ref]string
}

var _ apply.Approvals = (*runnerApprovals)(nil)

// Approve has nothing to keep: the digest is in the arguments.
func (a *runnerApprovals) Approve(context.Context, plan.Plan) error { return nil }

// Approved reports whether a plan is an approved one. The error is why it may not be driven: it is neither that nor the
// way back from it.
func (a *runnerApprovals) Approved(ctx context.Context, p plan.Plan) (bool, error) {
	rec := plan.RolloutOf(p)
	of, err := a.Digests(ctx, &rec)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(of, func(d string) bool { return slices.Contains(a.digests, d) }) {
		return true, nil
	}
	if back := a.back[p.Target.Ref()]; p.RollbackReason != "" && back != "" && p.Change.ToHash == back {
		return false, nil
	}
	return false, &resource.Error{
		Err:  &apply.UnapprovedError{Reasons: []string{fmt.Sprintf("it is %s, and %s was approved", of[0], a.Authority.Digest)}},
		Hint: "'" + p.Target.Command("show") + "' shows the recorded plan: it was edited, or another rollout has started",
	}
}

// TakeOver lets the way back be carried out whole, as far as it leads to a template that the
// workload itself has kept.
func (a *runnerApprovals) TakeOver(_ context.Context, t apply.TakeOver) (whole bool, err error) {
	if len(t.Commands) > 0 {
		return false, &apply.UnapprovedError{Reasons: []string{"it runs commands, and a runner has no programs"}}
	}
	// A way back that this or an earlier runner has recorded may not have written anything yet.
	startsBack := t.Unbegun && t.Plan.RollbackReason != "" && t.Plan.LeadsToPrevious(t.Snapshot)
	if !t.Approved && len(t.Unproven) > 0 && !startsBack {
		return false, &apply.UnapprovedError{Reasons: t.Unproven}
	}
	return true, nil
}

// accept takes a rollout in that has the digest of the arguments, and by it its plans and the ways back from them; the
// error refuses another one.
func (a *runnerApprovals) accept(ctx context.Context, rec *plan.Rollout) error {
	clusters, err := a.ClusterIdentities(ctx)
	if err != nil {
		return err
	}
	var of []string
	for _, id := range clusters {
		of = append(of, rec.Digest(id))
	}
	if !slices.Contains(of, a.Authority.Digest) {
		return &resource.Error{
			Err:  &apply.UnapprovedError{Reasons: []string{fmt.Sprintf("it is %s, and %s was approved", of[0], a.Authority.Digest)}},
			Hint: "'kubectl kruise rollout status' shows the recorded one: it was edited, or another one has started",
		}
	}
	a.digests, a.back = nil, map[cluster.Ref]string{}
	for _, p := range rec.Plans() {
		a.digests = append(a.digests, planning.ApprovalDigests(&p, clusters)...)
		a.back[p.Target.Ref()] = p.Change.FromHash
	}
	return nil
}
