package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Run offers to carry out the plan that is made of what is known of a workload.
func (d *Rollouts) Run(ctx context.Context, ref cluster.Ref, plans func(plan.Snapshot) (plan.Plan, error)) (*Offer, error) {
	return d.planned(ctx, ref, func(ctx context.Context, _ *execute.Execution, s *session.Session) (plan.Plan, error) {
		snapshot, err := s.Observe(ctx, s.Target.Ref)
		if err != nil {
			return plan.Plan{}, err
		}
		return plans(snapshot)
	})
}

// Undo offers to go back: while a rollout is in progress, or has halted, to the template
// that it started from; after it to an older revision, 0 for the one before.
func (d *Rollouts) Undo(ctx context.Context, ref cluster.Ref, revision int64) (*Offer, error) {
	rollouts, err := d.rollouts()
	if err != nil {
		return nil, err
	}
	rec, err := rollouts.Get(ctx, ref)
	switch {
	case errors.Is(err, plan.ErrNoRollout), err == nil && rec.State() == plan.StateDone:
		return d.planned(ctx, ref, func(ctx context.Context, at *execute.Execution, s *session.Session) (plan.Plan, error) {
			return at.Undone(ctx, s, revision)
		})
	case err != nil:
		return nil, err
	}
	return d.back(ctx, ref, rollouts)
}

// planner makes a plan for a workload that is watched.
type planner func(context.Context, *execute.Execution, *session.Session) (plan.Plan, error)

// planned offers to carry out a plan.
func (d *Rollouts) planned(ctx context.Context, ref cluster.Ref, plans planner) (*Offer, error) {
	at, said := d.Sessions()
	s, err := at.OpenRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := apply.Idle(s, plan.TransitionBegin); err != nil {
		return nil, err
	}
	p, err := plans(ctx, at, s)
	if err != nil {
		return nil, err
	}
	if len(p.Steps) == 0 {
		return nil, errors.New(p.Change.Why)
	}
	at.WarnOfOwners(s.Object)
	means := fmt.Sprintf("to %s of %s", p.Change.ToHash, p.Target.UID)
	return &Offer{Change: plan.ConsequenceOfPlan(p, ""), Effect: append(effect(p), said.lines()...), Means: means, do: func(context.Context) (string, error) {
		at, _ := d.Sessions()
		err := d.Start(at, ref, func(ctx context.Context, s *session.Session) (plan.Plan, error) { return plans(ctx, at, s) })
		return "started: " + p.Steps[0].Title, err
	}}, nil
}

// back offers to end the recorded rollout and to take it back.
func (d *Rollouts) back(ctx context.Context, ref cluster.Ref, rollouts apply.Rollouts) (*Offer, error) {
	why := "rolled back by " + session.Holder()
	at, said := d.Sessions()
	s, err := at.OpenRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec, err := s.Rollout()
	if err != nil {
		return nil, err
	}
	p, _, err := apply.WayBack(ctx, s, rec, why)
	if err != nil {
		return nil, err
	}
	change := plan.ConsequenceOfPlan(p, plan.TransitionRollBack)
	return &Offer{Change: change, Effect: append(effect(p), said.lines()...), Means: apply.Act{Transition: plan.TransitionRollBack}.Means(rec), do: func(ctx context.Context) (string, error) {
		if _, err := rollouts.Change(ctx, ref, apply.Act{Transition: plan.TransitionRollBack, Why: why}); err != nil || len(p.Steps) == 0 {
			return "the rollout has ended", err
		}
		return "rolling back: " + p.Steps[0].Title, d.startBack(ref, why)
	}}, nil
}

// startBack records the way back of a rollout that has ended, and carries it out,
// behind.
func (d *Rollouts) startBack(ref cluster.Ref, why string) error {
	at, _ := d.Sessions()
	rollouts, err := at.Rollouts()
	if err != nil {
		return err
	}
	s, err := at.OpenRef(d.ctx, ref)
	if err != nil {
		return err
	}
	s.AllowVerify(d.Authority.Asks)
	e, err := rollouts.Rollback(d.ctx, s, why)
	if err != nil {
		s.Close()
		return session.WithHint(err)
	}
	d.drive(s, e)
	return nil
}

// mostTitles is how many steps an effect names.
const mostTitles = 4

// effect is what a plan does, in lines.
func effect(p plan.Plan) []string {
	var lines []string
	if why := p.Reason(); why != "" {
		lines = append(lines, why)
	}
	titles := make([]string, 0, mostTitles)
	for _, s := range p.Steps[:min(mostTitles, len(p.Steps))] {
		titles = append(titles, s.Title)
	}
	if more := len(p.Steps) - len(titles); more > 0 {
		titles = append(titles, fmt.Sprintf("and %d more", more))
	}
	if len(titles) > 0 {
		lines = append(lines, "steps: "+strings.Join(titles, "; "))
	}
	return append(lines, p.Warnings...)
}

// Scale offers to change how many pods there are.
func (d *Rollouts) Scale(ctx context.Context, ref cluster.Ref, value string) (*Offer, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%q is not a number of pods", value)
	}
	patch := &plan.Patch{Type: plan.PatchMerge, Subresource: "scale", Body: map[string]any{"spec": map[string]any{"replicas": n}}}
	return d.patched(ctx, ref, "scaled to "+value, func(s plan.Snapshot) (*plan.Patch, plan.Consequence, error) {
		if w := s.Object(); w.Kind == kruise.KindDaemonSet || w.Kind == kruise.KindSidecarSet {
			return nil, plan.Consequence{}, fmt.Errorf("%s has no number of pods of its own", ref)
		}
		return patch, plan.Consequence{Was: strconv.Itoa(plan.CurrentSpecPlan(s).Limits.Replicas), Becomes: value}, nil
	})
}

// Partition offers to change how many pods stay old.
func (d *Rollouts) Partition(ctx context.Context, ref cluster.Ref, value string) (*Offer, error) {
	return d.patched(ctx, ref, "partition set to "+value, func(now plan.Snapshot) (*plan.Patch, plan.Consequence, error) {
		w := now.Object()
		path := plan.PartitionPath(w.Group, w.Kind, w.Version)
		if path == nil {
			return nil, plan.Consequence{}, fmt.Errorf("%s has no partition", ref)
		}
		body, err := partitioned(path, value)
		if err != nil {
			return nil, plan.Consequence{}, err
		}
		return &plan.Patch{Type: plan.PatchMerge, Body: body}, plan.Consequence{Was: plan.PartitionOf(w), Becomes: value}, nil
	})
}

// partitioned is a merge patch of the partition alone.
func partitioned(path []string, value string) (any, error) {
	var body any = value
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		body = n
	} else if _, err := plan.ParseAmount(value); err != nil {
		return nil, fmt.Errorf("partition: %w", err)
	}
	for _, name := range slices.Backward(path) {
		body = map[string]any{name: body}
	}
	return body, nil
}

// patches makes a patch of a workload as it is now, and says what it changes.
type patches func(plan.Snapshot) (*plan.Patch, plan.Consequence, error)

// patched offers one patch of a workload that has no rollout in progress; done is what is
// said once it is written.
func (d *Rollouts) patched(ctx context.Context, ref cluster.Ref, done string, makes patches) (*Offer, error) {
	offer, err := d.patch(ctx, ref, makes, false)
	if err != nil {
		return nil, err
	}
	offer.do = func(ctx context.Context) (string, error) {
		_, err := d.patch(ctx, ref, makes, true)
		return done, err
	}
	return offer, nil
}

// patch makes a patch for a workload as it is now, and writes it where that is asked for;
// else it also says who owns the fields.
func (d *Rollouts) patch(ctx context.Context, ref cluster.Ref, makes patches, write bool) (*Offer, error) {
	at, notes := d.Sessions()
	s, err := at.OpenRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := apply.Idle(s, plan.TransitionBegin); err != nil {
		return nil, err
	}
	now, err := s.Observe(ctx, ref)
	if err != nil {
		return nil, err
	}
	if now.Workload == nil {
		return nil, &resource.Error{Err: fmt.Errorf("%s is gone", ref)}
	}
	patch, change, err := makes(now)
	if err != nil {
		return nil, err
	}
	uid := now.Object().UID
	if write {
		return nil, s.Do(ctx, ref, plan.Action{Patch: patch, Precondition: plan.Precondition{UID: uid}})
	}
	at.WarnOfOwners(s.Object)
	return &Offer{Change: change, Effect: notes.lines(), Means: fmt.Sprintf("%s to %s of %s", change.Was, change.Becomes, uid)}, nil
}
