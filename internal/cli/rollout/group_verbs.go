package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ofGroup is a verb for a whole group of rollouts.
type ofGroup struct {
	name string
	// marks writes what the user has said into the record of the group; nil leaves that.
	marks func(r *group.Record, by string)
	// onlyWaiting has the verb change those rollouts alone that wait for a user.
	onlyWaiting bool
}

func (g *ofGroup) addFlag(c *cobra.Command) {
	c.Flags().StringVar(&g.name, "group", "", "name of a group: apply to all of its rollouts")
}

// check refuses names beside --group. Errors are of usage.
func (g *ofGroup) check(args []string) error {
	if len(args) > 0 {
		return command.Usagef("leave out one of them", "--group excludes TYPE/NAME")
	}
	return nil
}

// saidAt is who says something, and when.
func saidAt(by string, at time.Time) string {
	return "by " + by + " at " + at.UTC().Format(time.RFC3339)
}

func pausesGroup(r *group.Record, by string) { r.Paused = by }

func resumesGroup(r *group.Record, _ string) { r.Paused = "" }

func abortsGroup(back bool) func(*group.Record, string) {
	return func(r *group.Record, by string) {
		if r.Aborted == "" {
			r.Aborted = by
		}
		if back && !r.Back {
			r.Back, r.Finished, r.Paused = true, time.Time{}, ""
		}
	}
}

// onGroup does what the verb does to the group and to each of its rollouts that allows it,
// and carries the group out where the verb continues it.
func (o *control) onGroup(ctx context.Context, back bool) error {
	if err := o.ready(); err != nil {
		return err
	}
	if o.dry().Only() {
		return command.Usagef("name one workload for --dry-run", "--dry-run is not for a group")
	}
	end, err := o.share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	records, known := o.groupRecords(), &groupApprovals{approvals: approvals{o.common}}
	rec, err := records.Load(ctx, namespace, o.group.name)
	if err != nil {
		return noGroup(err)
	}
	if err := o.allows(rec, back); err != nil {
		return err
	}
	groups, err := o.groups(known, nil)
	if err != nil {
		return err
	}
	by, err := records.Holder(ctx, namespace, rec.Name)
	driven := err == nil && by != ""
	agreed := ""
	if o.goesOn && !o.only && !driven {
		// Whether this person may carry the group out is decided before anything is changed.
		if err := known.take(ctx, rec, groups); err != nil {
			return err
		}
		agreed = rec.Digest("")
	}
	if o.group.marks != nil {
		by := saidAt(holder(), time.Now())
		if rec, err = records.Change(ctx, namespace, rec.Name, func(r *group.Record) error { o.group.marks(r, by); return nil }); err != nil {
			return err
		}
	}
	if err := o.changeMembers(ctx, rec, groups.Rollouts); err != nil {
		return err
	}
	if !back && (!o.goesOn || o.only) {
		return nil
	}
	err = o.driveGroup(ctx, rec, groups, known, back, agreed)
	if driven && !back && errors.Is(err, plan.ErrTaken) { // it is alive: one that was killed would have been waited for
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "%s carries the group out, and follows\n", by)
		return nil
	}
	return err
}

// allows refuses what a group does not allow that has ended, or is rolled back.
func (o *control) allows(rec group.Record, back bool) error {
	switch {
	case rec.Back && !back:
		return &resource.Error{
			Err: fmt.Errorf("group %s was aborted %s, and is rolled back", rec.Name, rec.Aborted), Hint: "'kubectl kruise rollout abort --group " + rec.Name + " --rollback' continues that",
		}
	case rec.Aborted != "" && o.goesOn:
		return &resource.Error{
			Err: fmt.Errorf("group %s was aborted %s", rec.Name, rec.Aborted), Hint: "roll it back with 'kubectl kruise rollout abort --group " + rec.Name + " --rollback', or start a new one with 'kubectl kruise rollout run'",
		}
	case !rec.Finished.IsZero() && !back:
		return &resource.Error{Err: fmt.Errorf("group %s ended at %s", rec.Name, rec.Finished.UTC().Format(time.RFC3339)), Hint: "start a new one with 'kubectl kruise rollout run'"}
	}
	return nil
}

func noGroup(err error) error {
	if errors.Is(err, group.ErrNone) {
		return &resource.Error{Err: err, Hint: "check --group and -n: a group is kept in the namespace of 'rollout run'"}
	}
	return err
}

// changeMembers changes the record of each rollout of the group that has begun and allows it.
func (o *control) changeMembers(ctx context.Context, rec group.Record, rollouts apply.Rollouts) error {
	changed := 0
	for i, m := range rec.Group.Members {
		one, err := rollouts.Get(ctx, m.Ref)
		if errors.Is(err, plan.ErrNoRollout) {
			continue
		}
		if err != nil {
			return err
		}
		ahead := rec
		ahead.Back = false
		phase, _ := ahead.Stands(i, one, true)
		if !o.applies(phase) {
			continue
		}
		err = o.changeMember(ctx, m.Ref, rollouts)
		if _, refused := errors.AsType[*plan.TransitionError](err); refused {
			continue // it has come further since
		}
		if err != nil {
			return fmt.Errorf("%s: %w", rec.Group.Name(m.Ref), err)
		}
		changed++
	}
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "group %s: %d of %d rollouts changed\n", rec.Name, changed, len(rec.Group.Members))
	return nil
}

// applies reports whether the verb is for a rollout of this phase.
func (o *control) applies(p group.Phase) bool {
	switch p {
	case group.Waiting:
		return true
	case group.Progressing:
		return !o.group.onlyWaiting
	case group.Failed:
		return o.group.marks == nil // to retry it
	}
	return false
}

func (o *control) changeMember(ctx context.Context, ref cluster.Ref, rollouts apply.Rollouts) error {
	one, err := rollouts.Change(ctx, ref, o.action.do)
	if err != nil {
		return err
	}
	s, err := o.locateIn(ctx, nameOfRef(ref), ref.Namespace)
	if err != nil {
		return err
	}
	if one, err = o.stop(ctx, s, rollouts, one); err == nil {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "%s: %s\n", ref, o.action.said(one))
	}
	return err
}

// mostHandovers is how often a group is asked for that another process is about to leave; it
// takes some seconds each time to see that the other one still has it.
const mostHandovers = 6

// driveGroup carries out what is left of a group, or rolls it back. agreed is the digest of
// one that may be carried out already.
func (o *control) driveGroup(ctx context.Context, rec group.Record, groups apply.Groups, known *groupApprovals, back bool, agreed string) error {
	opt, stop := o.groupOptions(rec)
	defer stop()
	opt.Back = back
	opt.Approved = func(now group.Record) error {
		if agreed != "" && now.Digest("") == agreed {
			return nil
		}
		if back {
			// Each way back is proven by itself; the limits of a record alone are not.
			approved, err := known.knows(ctx, now)
			opt.OneByOne = !approved
			return err
		}
		return known.take(ctx, now, groups)
	}
	res, err := groups.Resume(ctx, rec.Namespace, rec.Name, &opt)
	for try := 0; back && errors.Is(err, plan.ErrTaken) && try < mostHandovers; try++ {
		// The process that carried the group out lets go of it once its rollouts have stopped.
		res, err = groups.Resume(ctx, rec.Namespace, rec.Name, &opt)
	}
	if err != nil {
		return groupHinted(err)
	}
	return o.endGroup(rec, res)
}

// groupStatusOf tells how a group stands.
func (o *statusOptions) groupStatusOf(ctx context.Context) error {
	end, err := o.share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	records, known := o.groupRecords(), &groupApprovals{approvals: approvals{o.common}}
	rec, err := records.Load(ctx, namespace, o.group.name)
	if err != nil {
		return noGroup(err)
	}
	groups, err := o.groups(known, nil)
	if err != nil {
		return err
	}
	stands, err := groups.Status(ctx, rec)
	if err != nil {
		return err
	}
	s := groupStatus(rec, stands)
	if by, err := records.Holder(ctx, namespace, rec.Name); err == nil {
		s.Holder = by // who carries it out is said where that may be read
	}
	if clusters, err := known.clusters(ctx); err == nil {
		s.Digest = rec.Digest(clusters[0])
	}
	if o.output == "json" {
		err = view.JSON(o.factory.Streams.Out, s)
	} else {
		err = view.Group(o.factory.Streams.Out, s, o.factory.OutStyle(false))
	}
	if err == nil && stands.Outcome == group.HasFailed {
		err = o.endOf(plan.Decision{Verb: plan.Halt})
	}
	return err
}
