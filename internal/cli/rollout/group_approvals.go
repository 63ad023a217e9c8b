package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// groupApprovals know the plans of a group that the user has approved as a whole, and those
// that approvals know.
type groupApprovals struct {
	approvals

	mu sync.Mutex
	// digests are those of the plans.
	digests []string
}

// Approve does nothing more: the group was approved.
func (a *groupApprovals) Approve(context.Context, plan.Plan) error { return nil }

// Approved reports whether the plan is one of the group's, or approved by itself.
func (a *groupApprovals) Approved(ctx context.Context, p plan.Plan) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	digests, err := a.approvals.digests(ctx, p)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(digests, func(d string) bool { return slices.Contains(a.digests, d) }) {
		return true, nil
	}
	return a.kept(digests), nil
}

// TakeOver asks one question at a time.
func (a *groupApprovals) TakeOver(ctx context.Context, t apply.TakeOver) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.approvals.TakeOver(ctx, t)
}

// approve prints the digest of a group that the user has approved, and keeps it with those of
// its plans. The plan of a rollout in progress is recorded: whether it was approved is known by its own digest.
func (a *groupApprovals) approve(ctx context.Context, r *rolling) error {
	clusters, err := a.clusters(ctx)
	if err != nil {
		return err
	}
	digest := r.record.Digest(clusters[0])
	_, _ = fmt.Fprintf(a.factory.Streams.Err, "group %s approved: %s\n", r.record.Name, digest)
	kept := a.keep(digest, "group "+r.record.Name)
	for _, m := range r.members {
		if m.begun {
			continue
		}
		one := m.plan.Digest(clusters[0])
		a.digests = append(a.digests, one)
		kept = kept && a.keep(one, m.ref().String())
	}
	return nil
}

// confirm decides whether a recorded group may be carried out: it was approved on this machine
// or is named by --approved; otherwise the user is shown what has not begun, and asked. What
// is in progress then is approved by its own digest, or not.
func (a *groupApprovals) confirm(ctx context.Context, rec plan.Rollout, groups apply.Groups) error {
	plans := rec.Plans()
	approved, err := a.knows(ctx, rec)
	if err == nil && !approved {
		plans, err = a.askFor(ctx, rec, groups)
	}
	if err != nil {
		return err
	}
	clusters, err := a.clusters(ctx)
	if err != nil {
		return err
	}
	for _, p := range plans {
		for _, id := range clusters {
			a.digests = append(a.digests, p.Digest(id))
		}
	}
	return nil
}

// knows reports whether the user has approved this very group; the error is that --approved
// names another one.
func (a *groupApprovals) knows(ctx context.Context, rec plan.Rollout) (bool, error) {
	clusters, err := a.clusters(ctx)
	if err != nil {
		return false, err
	}
	var digests []string
	for _, id := range clusters {
		digests = append(digests, rec.Digest(id))
	}
	switch given := a.authority.digest; {
	case given != "" && !slices.Contains(digests, given):
		return false, &resource.Error{Err: fmt.Errorf("the recorded group is %s, not %s", digests[0], given), Hint: "'kubectl kruise rollout status --group " + rec.Name + "' shows it: it may have been edited"}
	case given != "":
		return true, nil
	}
	return a.kept(digests), nil
}

// askFor shows what has not begun of a group, as its patches describe it, and asks. It returns
// the plans that were shown.
func (a *groupApprovals) askFor(ctx context.Context, rec plan.Rollout, groups apply.Groups) (shown []plan.Plan, err error) {
	if !a.canAsk() {
		return nil, a.unapproved(rec)
	}
	w, style := a.factory.Streams.Err, view.Style{Color: a.factory.ColorErr()}
	_, _ = fmt.Fprintf(w, "The recorded group was not approved on this machine. Its limits: %s. Its rollouts that have not started:\n\n", limitsText(rec.Bounds))
	for i, p := range rec.Plans() {
		one, err := groups.Rollouts.Get(ctx, rec.Members[i].Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return nil, err
		}
		if phase, _ := rec.PhaseOf(i, one, err == nil); phase != plan.PhasePending {
			continue
		}
		if err := a.commands(p.Commands(0), "the recorded plan"); err != nil {
			return nil, err
		}
		described, err := a.described(ctx, p)
		if err != nil {
			return nil, err
		}
		if err := view.Plan(w, described, nil, style); err != nil {
			return nil, err
		}
		shown = append(shown, p)
	}
	return shown, a.ask(ctx, false, "Carry this out with your rights?")
}

// unapproved is the error of a group that may not be carried out without a question.
func (a *groupApprovals) unapproved(rec plan.Rollout) error {
	return &resource.Error{
		Err:  errors.New("the recorded group is not one that you approved on this machine"),
		Hint: "look at it with 'kubectl kruise rollout status --group " + rec.Name + "'; if it is what you approved, name it with --approved DIGEST, as 'rollout run' printed it",
	}
}

// described is a plan as its patches describe it; one that says something else is an error.
func (a *groupApprovals) described(ctx context.Context, p plan.Plan) (plan.Plan, error) {
	s, err := a.openRef(ctx, p.Target.Ref())
	if err != nil {
		return p, err
	}
	defer s.Close()
	p, _, err = fits(ctx, s, p)
	return p, err
}

func limitsText(l plan.Bounds) string {
	bound := func(n int, noun string) string {
		if n == 0 {
			return "any number of " + noun + "s"
		}
		return counted.Of(n, noun)
	}
	return fmt.Sprintf("%s at a time, %s, %s", bound(l.Parallel, "rollout"), bound(l.MaxUnavailable, "unavailable pod"), counted.Of(l.MaxFailures, "failure"))
}
