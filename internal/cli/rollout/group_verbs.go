package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func addGroupFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "group", "", "name of a group: apply to all of its rollouts")
}

func errGroupAndName() error {
	return command.Usagef("leave out one of them", "--group excludes TYPE/NAME")
}

// byAt names a person and a time.
func byAt(by string, at time.Time) string {
	return "by " + by + " at " + at.UTC().Format(time.RFC3339)
}

// onGroup does what the verb does to the group and to each of its rollouts that allows it,
// and carries the group out where the verb continues it.
func (o *control) onGroup(ctx context.Context) error {
	end, err := o.Share(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, err := o.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	v := &groupVerb{control: o, records: o.GroupRecords(), known: &session.Approvals{Client: o.Client, Group: true}}
	if v.rec, err = v.records.Load(ctx, namespace, o.group); err != nil {
		return noGroup(err)
	}
	back := o.action.GoesBack()
	if err := o.allows(v.rec, back); err != nil {
		return err
	}
	if back && !o.Dry().Only() { // its record may be edited: what it names is in the question
		var names []string
		for _, m := range v.rec.Members {
			names = append(names, v.rec.MemberName(m.Ref))
		}
		if err := o.Ask(ctx, o.yes, fmt.Sprintf("Roll back all rollouts of group %s (%s)?", o.group, strings.Join(names, ", "))); err != nil {
			return err
		}
	}
	if v.groups, err = o.Groups(v.known, nil); err != nil {
		return err
	}
	switch {
	case o.Dry().Only():
		return v.preview(ctx)
	case o.Detach.On:
		return v.detach(ctx)
	}
	return v.do(ctx)
}

// groupVerb is a verb that is applied to one group.
type groupVerb struct {
	*control

	rec     plan.Rollout
	records *kube.Groups
	groups  apply.Groups
	known   *session.Approvals
	// agreed is the digest of the group that the user was shown and agreed to; "" for none.
	agreed string
	// left are rollouts of other namespaces, which the record of the group alone does not have changed.
	left []string
}

// carriesOut reports whether the verb carries the group out where no process does.
func (v *groupVerb) carriesOut() bool { return v.action.GoesBack() || v.continuesHere() }

// do changes the records, and carries the group out where the verb does that. Whether this
// user may carry it out is decided before anything is changed.
func (v *groupVerb) do(ctx context.Context) error {
	by, err := v.records.Holder(ctx, v.rec.Namespace, v.rec.Name)
	driven := err == nil && by != ""
	if v.continuesHere() && !driven {
		if err := v.known.Confirm(ctx, &v.rec, v.groups); err != nil {
			return err
		}
		v.agreed = v.rec.Digest("")
	}
	if err := v.change(ctx); err != nil {
		return err
	}
	if !v.carriesOut() {
		return nil
	}
	err = v.drive(ctx)
	if driven && !v.action.GoesBack() && errors.Is(err, plan.ErrOtherExecutor) { // it is alive: one that was killed would have been waited for
		_, _ = fmt.Fprintf(v.Factory.Streams.Err, "%s carries the group out, and follows\n", by)
		return nil
	}
	return err
}

// detach has a Job carry out what is left of the group, which the user has to have approved.
func (v *groupVerb) detach(ctx context.Context) error {
	if by, err := v.records.Holder(ctx, v.rec.Namespace, v.rec.Name); err == nil && by != "" {
		return execute.GroupHinted(v.rec.Name, fmt.Errorf("%w: %s", plan.ErrOtherExecutor, by))
	}
	approved, err := v.known.Knows(ctx, &v.rec)
	if err != nil {
		return err
	}
	if !approved {
		return v.known.Unapproved(&v.rec)
	}
	return v.Jobs().Around(ctx, &v.rec, func() error { return v.change(ctx) })
}

// change changes the record of the group, and those of its rollouts.
func (v *groupVerb) change(ctx context.Context) error {
	by := byAt(session.Holder(), time.Now())
	rec, err := v.records.Change(ctx, v.rec.Namespace, v.rec.Name, func(r *plan.Rollout) error { v.action.Mark(r, by); return nil })
	if err != nil {
		return err
	}
	v.rec = rec
	return v.changeMembers(ctx)
}

// allows refuses what a group does not allow that has ended, or is rolled back.
func (o *control) allows(rec plan.Rollout, back bool) error {
	switch {
	case rec.Back && !back:
		return &resource.Error{
			Err: fmt.Errorf("group %s was aborted %s, and is rolled back", rec.Name, rec.Aborted), Hint: "'kubectl kruise rollout abort --group " + rec.Name + " --rollback' continues that",
		}
	case rec.Aborted != "" && o.action.ContinuesRollout():
		return &resource.Error{
			Err: fmt.Errorf("group %s was aborted %s", rec.Name, rec.Aborted), Hint: "roll it back with 'kubectl kruise rollout abort --group " + rec.Name + " --rollback', or start a new one with 'kubectl kruise rollout run'",
		}
	case !rec.Finished.IsZero() && !back:
		return &resource.Error{Err: fmt.Errorf("group %s ended at %s", rec.Name, rec.Finished.UTC().Format(time.RFC3339)), Hint: "start a new one with 'kubectl kruise rollout run'"}
	}
	return nil
}

func noGroup(err error) error {
	if errors.Is(err, plan.ErrNoGroup) {
		return &resource.Error{Err: err, Hint: "check --group and -n: a group is kept in the namespace of 'rollout run'"}
	}
	return err
}

// changeMembers changes the record of each rollout of the group that has begun and allows it.
func (v *groupVerb) changeMembers(ctx context.Context) error {
	changed := 0
	err := v.eachApplicable(ctx, func(ref cluster.Ref) error {
		err := v.changeMember(ctx, ref)
		if err == nil {
			changed++
		}
		return err
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(v.Factory.Streams.Err, "group %s: %d of %s changed\n", v.rec.Name, changed, counted.Of(len(v.rec.Members), "rollout"))
	return v.leftError()
}

// isAgreed reports whether a record is of the group that the user agreed to.
func (v *groupVerb) isAgreed(rec plan.Rollout) bool {
	return v.agreed != "" && rec.Digest("") == v.agreed
}

// leftError names the rollouts that were left as they are.
func (v *groupVerb) leftError() error {
	if len(v.left) == 0 {
		return nil
	}
	return &resource.Error{
		Err:  fmt.Errorf("rollouts in other namespaces are as they were, since this group was not approved on this machine: %s", strings.Join(v.left, ", ")),
		Hint: "use the verb on each of them, with -n, or on the group where it was approved",
	}
}

// eachApplicable does something for each rollout of the group that has begun and that the
// verb is for. One that does not allow it has come further since. Who may write in the namespace of the group may edit
// its record: those of other namespaces are left where the user has not approved the group.
func (v *groupVerb) eachApplicable(ctx context.Context, do func(cluster.Ref) error) error {
	forward := v.rec
	forward.Back = false
	approved := v.isAgreed(v.rec)
	if !approved {
		var err error
		if approved, err = v.known.Knows(ctx, &v.rec); err != nil {
			return err
		}
	}
	for i, m := range v.rec.Members {
		one, err := v.groups.Rollouts.Get(ctx, m.Ref)
		if errors.Is(err, plan.ErrNoRollout) {
			continue
		}
		if err != nil {
			return err
		}
		// The record of a group may be edited: a rollout that is not of the group's is left alone.
		phase, _ := forward.PhaseOf(i, one, true)
		switch applies := v.action.Applies(phase); {
		case !applies && !v.action.GoesBack() || !forward.Has(one): // also one that has ended is rolled back
			continue
		case !approved && m.Ref.Namespace != v.rec.Namespace:
			v.left = append(v.left, v.rec.MemberName(m.Ref))
			continue
		case !applies:
			continue
		}
		err = do(m.Ref)
		if _, refused := errors.AsType[*plan.TransitionError](err); refused {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.rec.MemberName(m.Ref), err)
		}
	}
	return nil
}

// preview describes what the verb would do to the group and to each of its rollouts, and the
// requests that follow from it.
func (v *groupVerb) preview(ctx context.Context) error {
	var list []event.Request
	changed := 0
	err := v.eachApplicable(ctx, func(ref cluster.Ref) error {
		more, err := v.previewMember(ctx, ref)
		if err == nil {
			changed++
			list = append(list, more...)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(v.Factory.Streams.Err, "group %s: %d of %s changed%s\n", v.rec.Name, changed, counted.Of(len(v.rec.Members), "rollout"), v.Dry().Suffix())
	return errors.Join(v.ShowRequests(ctx, list), v.leftError())
}

func (v *groupVerb) previewMember(ctx context.Context, ref cluster.Ref) ([]event.Request, error) {
	s, err := v.OpenRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec, err := s.Rollout()
	if err != nil {
		return nil, err
	}
	if err := v.printTransition(&rec, v.action); err != nil {
		return nil, err
	}
	return v.requestsAfter(ctx, s, rec, v.action.GoesBack())
}

func (v *groupVerb) changeMember(ctx context.Context, ref cluster.Ref) error {
	s, err := v.LocateRef(ctx, ref)
	if err != nil {
		return err
	}
	_, said, err := v.ActOn(ctx, s, v.action, false)
	if err == nil {
		_, _ = fmt.Fprintf(v.Factory.Streams.Err, "%s: %s\n", ref, said)
	}
	return err
}

// mostHandovers is how often a group is asked for that another process is about to leave; it
// takes some seconds each time to see that the other one still has it.
const mostHandovers = 6

// drive carries out what is left of the group, or rolls it back.
func (v *groupVerb) drive(ctx context.Context) error {
	opt, stop, err := v.GroupOptions(ctx, v.rec)
	if err != nil {
		return err
	}
	defer stop()
	opt.Back = v.action.GoesBack()
	approved := func(now plan.Rollout) (whole bool, err error) {
		switch {
		case v.isAgreed(now):
			return true, nil
		case !opt.Back:
			return true, v.known.Confirm(ctx, &now, v.groups)
		}
		// Each way back is proven by itself; the limits of a record alone are not.
		if whole, err = v.known.Knows(ctx, &now); err != nil || whole {
			return whole, err
		}
		v.rec, v.left = now, nil // it may have been edited since it was read
		return false, errors.Join(v.eachApplicable(ctx, func(cluster.Ref) error { return nil }), v.leftError())
	}
	var res apply.GroupResult
	for try := 0; ; try++ {
		res, err = v.groups.Resume(ctx, v.rec.Namespace, v.rec.Name, approved, &opt)
		if !v.action.GoesBack() || !errors.Is(err, plan.ErrOtherExecutor) || try == mostHandovers {
			break
		}
		// The process that carried the group out lets go of it once its rollouts have stopped.
	}
	if err != nil {
		return execute.GroupHinted(v.rec.Name, err)
	}
	return v.GroupEnded(v.rec, res)
}
