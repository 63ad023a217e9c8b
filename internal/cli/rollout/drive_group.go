package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// driveGroupOnce carries a group out as far as this process can. The error wraps
// plan.ErrOtherExecutor where another one does.
func (o *driveOptions) driveGroupOnce(ctx context.Context) error {
	end, err := o.share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	known := &runnerApprovals{driveOptions: o}
	groups, err := o.groups(known, nil)
	if err != nil {
		return err
	}
	rec, err := groups.Records.Load(ctx, namespace, o.group)
	if err == nil {
		err = known.accept(ctx, rec)
	}
	_, unapproved := errors.AsType[*apply.UnapprovedError](err)
	switch {
	case o.authority.file != "" && (errors.Is(err, plan.ErrNoGroup) || unapproved && !rec.Finished.IsZero()):
		return o.beginGroupOf(ctx, groups, known)
	case err != nil:
		return err
	}
	opt, stop, err := o.groupDriver().options(ctx, rec)
	if err != nil {
		return err
	}
	defer stop()
	opt.Back = rec.Back // who has it rolled back may be gone
	opt.Approved = func(now plan.Rollout) error { return known.accept(ctx, now) }
	res, err := groups.Resume(ctx, rec.Namespace, rec.Name, &opt)
	if res.Ended == event.Completed && !rec.Finished.IsZero() {
		_, _ = fmt.Fprintln(o.factory.Streams.Err, "completed already")
	}
	return o.groupEnds(rec, res, err)
}

// beginGroupOf records the group of --plan, and carries it out.
func (o *driveOptions) beginGroupOf(ctx context.Context, groups apply.Groups, known *runnerApprovals) error {
	rec, err := readGroup(o.authority.file)
	if err != nil {
		return &command.FailedError{Err: err}
	}
	if err := known.accept(ctx, rec); err != nil {
		return &command.FailedError{Err: fmt.Errorf("the group in %s: %w", o.authority.file, err)}
	}
	if err := o.groupFits(ctx, rec); err != nil {
		return err
	}
	if err := beginsAfter(ctx, groups.Rollouts, &rec); err != nil {
		return err
	}
	rec.By = o.holder()
	opt, stop, err := o.groupDriver().options(ctx, rec)
	if err != nil {
		return err
	}
	defer stop()
	res, err := groups.Begin(ctx, rec, &opt)
	return o.groupEnds(rec, res, err)
}

// groupFits refuses a group of which a workload is no longer what its plan was made for,
// before anything is written.
func (o *driveOptions) groupFits(ctx context.Context, rec plan.Rollout) error {
	for _, p := range rec.Plans() {
		s, err := o.openRef(ctx, p.Target.Ref())
		if err != nil {
			return err
		}
		_, err = starts(ctx, s, p)
		s.Close()
		if _, misfit := errors.AsType[*haltError](err); misfit {
			return &command.FailedError{Err: fmt.Errorf("%s: %w", rec.MemberName(p.Target.Ref()), err)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// groupEnds is how the run of a group ended here. What kept a rollout from being carried out
// here ends the Job only where no other process could do better.
func (o *driveOptions) groupEnds(rec plan.Rollout, res apply.GroupResult, err error) error {
	switch {
	case err != nil:
		return groupHinted(rec.Name, err)
	case res.Ended == event.RolledBack:
		return errors.Join(o.groupDriver().end(rec, res), command.ErrFailed)
	}
	if err := o.groupDriver().end(rec, res); err == nil || res.Faults == nil {
		return err
	}
	return fmt.Errorf("a rollout could not be carried out here: %w", res.Faults)
}

// accept takes a group in that has the digest of the arguments, and by it its plans and the ways back from them; the
// error refuses another one.
func (a *runnerApprovals) accept(ctx context.Context, rec plan.Rollout) error {
	clusters, err := approvals{a.common}.clusters(ctx)
	if err != nil {
		return err
	}
	var of []string
	for _, id := range clusters {
		of = append(of, rec.Digest(id))
	}
	if !slices.Contains(of, a.authority.digest) {
		return &resource.Error{
			Err:  &apply.UnapprovedError{Reasons: []string{fmt.Sprintf("the group is %s, and %s was approved", of[0], a.authority.digest)}},
			Hint: "'kubectl kruise rollout status --group " + rec.Name + "' shows the recorded group: it was edited, or another one has started",
		}
	}
	a.digests, a.back = nil, map[cluster.Ref]string{}
	for _, p := range rec.Plans() {
		a.digests = append(a.digests, planning.ApprovalDigests(&p, clusters)...)
		a.back[p.Target.Ref()] = p.Change.FromHash
	}
	return nil
}
