package apply

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Approvals know which plans the person behind a program has approved. The record of a
// rollout cannot say so: more people may write it than may write the workload.
type Approvals interface {
	// Approve is called with a plan that begins because the person has approved it.
	Approve(ctx context.Context, p plan.Plan) error
	// Approved reports whether the person has approved this very plan.
	Approved(ctx context.Context, p plan.Plan) (bool, error)
	// TakeOver decides whether a plan from a record may be driven, and whether to its
	// end: otherwise no further than the present step and the pause after it. The error
	// refuses it.
	TakeOver(ctx context.Context, t TakeOver) (whole bool, err error)
}

// TakeOver is a plan from a record that is about to be driven.
type TakeOver struct {
	// Plan is what would be carried out, Snapshot what is in the cluster, with the
	// progress from which it continues.
	Plan     plan.Plan
	Snapshot plan.Snapshot
	// Approved indicates that the person has approved this very plan.
	Approved bool
	// NeedsApproval are the writes that are left which a record alone may not have done, see
	// [plan.Plan.NeedsApproval]; none for a plan that is approved.
	Unproven []string
	// Unbegun indicates that all that is unproven is whether the plan is the one that began, see
	// [plan.BegunAnnotation].
	Unbegun bool
	// Commands are the programs that verify steps which are left would run, see
	// [plan.Plan.Commands], whether the plan is approved or not.
	Commands []string
	// Back indicates that the plan is the way back which the person has just asked for.
	Back bool
}

// UnapprovedError is a rollout that is not driven, because its plan comes from a record
// and was not approved by the person who would drive it.
type UnapprovedError struct{ Reasons []string }

// Error describes what the plan would do.
func (e *UnapprovedError) Error() string {
	return "the recorded plan is not one that you approved: " + strings.Join(e.Reasons, "; ")
}

// decide is the rule for programs without a person to ask.
func (t TakeOver) decide() (whole bool, err error) {
	if len(t.Unproven) > 0 {
		return false, &UnapprovedError{t.Unproven}
	}
	return t.Approved || t.Back, nil
}

// approve records a plan that a person has approved.
func (r Rollouts) approve(ctx context.Context, p plan.Plan) error {
	if r.Approvals == nil {
		return nil
	}
	return r.Approvals.Approve(ctx, p)
}

// mayDrive asks whether the plan of a record may be driven. s is what is in the cluster, with
// the progress from which it continues; of is the recorded plan, e.plan what would be
// driven: the same, or the way back from it. It sets the first and the last step
// that may be carried out, and the limits. Of a plan that was not
// approved, the steps before the present one were not looked at, so they are not for this
// run, whatever the record says later.
func (r Rollouts) mayDrive(e *Executor, s plan.Snapshot, of plan.Plan, back bool) (err error) {
	ctx, p := e.held, e.plan
	t := TakeOver{Plan: p, Snapshot: s, Commands: p.Commands(s.Progress.Step), Back: back}
	if r.Approvals != nil {
		if t.Approved, err = r.Approvals.Approved(ctx, of); err != nil {
			return fmt.Errorf("whether this plan was approved is not known: %w", err)
		}
	}
	if !t.Approved {
		t.Unproven, t.Unbegun = unproven(&p, s, &of, back)
	}
	whole, err := t.decide()
	if r.Approvals != nil {
		whole, err = r.Approvals.TakeOver(ctx, t)
	}
	if err != nil {
		return err
	}
	e.marks = t.Approved
	if !t.Approved {
		e.from, e.plan = max(s.Progress.Step, 0), p.WithStricterLimits(s)
	}
	if !whole {
		e.through = new(p.LastUnapproved(s))
	}
	return nil
}

// unproven is why a plan that was not approved may not be driven. The way back is made here, of a
// record that may have been edited: then it leads to the revision before the present one.
func unproven(p *plan.Plan, s plan.Snapshot, of *plan.Plan, back bool) (reasons []string, unbegun bool) {
	if reasons := p.NeedsApproval(s); len(reasons) > 0 {
		return reasons, false
	}
	switch {
	case of.IsBegun(s):
		return nil, false
	case !back:
		return []string{"it is not the plan with which the rollout began"}, true
	case len(p.Steps) > 0 && !p.LeadsToPrevious(s):
		return []string{"it goes back to another revision than the one before"}, false
	}
	return nil, false
}
