package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// approved keeps digests, and lets the rule of the package decide.
type approved struct {
	digests []string
	asked   []apply.TakeOver
}

func (a *approved) Approve(_ context.Context, p plan.Plan) error {
	a.digests = append(a.digests, p.Digest("c"))
	return nil
}

func (a *approved) Approved(_ context.Context, p plan.Plan) (bool, error) {
	return slices.Contains(a.digests, p.Digest("c")), nil
}

func (a *approved) TakeOver(_ context.Context, t apply.TakeOver) (bool, error) {
	if a.asked = append(a.asked, t); len(t.Unproven) > 0 {
		return false, &apply.UnapprovedError{Reasons: t.Unproven}
	}
	return t.Approved, nil
}

// TestDrive_NeedsApproval: a record alone carries a rollout one step further, and only where
// that changes nothing that runs.
func TestDrive_NeedsApproval(t *testing.T) {
	policy := plan.Policy{Steps: steps(t, "1+pause", "2", "100%"), Pull: plan.PullNever}
	begun := func(t *testing.T, a apply.Approvals) (library, *memory) {
		t.Helper()
		r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), policy)
		r.Approvals = a
		res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true})
		must(t, err)
		if res.Outcome != event.AtPause || m.images(t)["web:2"] != 1 {
			t.Fatalf("%+v, %v", res, m.images(t))
		}
		_, err = r.Promote(t.Context(), m.ref, plan.Promotion{})
		must(t, err)
		return r, m
	}
	t.Run("without approvals", func(t *testing.T) {
		r, m := begun(t, nil)
		for _, want := range []int{2, 6} {
			res, err := r.Drive(t.Context(), m.ref, apply.Options{})
			if err != nil || m.images(t)["web:2"] != want {
				t.Fatalf("want %d updated: %+v, %v, %v", want, res, err, m.images(t))
			}
		}
	})
	t.Run("approved", func(t *testing.T) {
		a := &approved{}
		r, m := begun(t, a)
		res, err := r.Drive(t.Context(), m.ref, apply.Options{})
		if err != nil || res.Outcome != event.Completed || m.images(t)["web:2"] != 6 || len(a.asked) != 1 || !a.asked[0].Approved {
			t.Fatalf("%+v, %v, %v, %+v", res, err, m.images(t), a.asked)
		}
	})
	for name, a := range map[string]apply.Approvals{"edited": nil, "edited, and another one approved": &approved{}} {
		t.Run(name, func(t *testing.T) {
			r, m := begun(t, a)
			m.rec.Plan.Steps = slices.Clone(m.rec.Plan.Steps)
			last := &m.rec.Plan.Steps[len(m.rec.Plan.Steps)-1]
			last.Kind = plan.StepUpdate
			last.Patches = append(slices.Clone(last.Patches), plan.Patch{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true}}})
			_, err := r.Drive(t.Context(), m.ref, apply.Options{})
			if unapproved, ok := errors.AsType[*apply.UnapprovedError](err); !ok || len(unapproved.Reasons) != 1 || m.images(t)["web:2"] != 1 || m.holder != "" {
				t.Errorf("%v, %v, held by %q", err, m.images(t), m.holder)
			}
		})
	}
}

// TestStep_ChangesTheRecordOnlyWithTheLease: the record of a rollout changes only where this process may then drive it, and
// what is decided on is what is recorded in the end.
func TestStep_ChangesTheRecordOnlyWithTheLease(t *testing.T) {
	atPause := func(t *testing.T) (library, *memory) {
		t.Helper()
		r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "1+pause", "2+pause", "100%"), Pull: plan.PullNever})
		res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true})
		must(t, err)
		if res.Outcome != event.AtPause {
			t.Fatalf("%+v", res)
		}
		return r, m
	}
	promotion := apply.Act{Transition: plan.TransitionPromote, Continues: true}
	t.Run("driven", func(t *testing.T) {
		r, m := atPause(t)
		done, err := r.Do(t.Context(), m.ref, promotion)
		must(t, err)
		if !done.Record.Progress.Promoted {
			t.Errorf("it is not recorded: %+v", done.Record.Progress)
		}
		if res, err := done.Executor.Run(apply.Options{AtPause: true}); err != nil || res.Outcome != event.AtPause || m.images(t)["web:2"] != 2 {
			t.Errorf("%+v, %v, %v", res, err, m.images(t))
		}
	})
	evil := plan.Patch{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true}}}
	for name, c := range map[string]struct {
		spoil   func(*apply.Act, *memory)
		refusal func(error) bool
	}{
		"an edited plan": {func(_ *apply.Act, m *memory) {
			m.rec.Plan.Steps = slices.Clone(m.rec.Plan.Steps)
			last := &m.rec.Plan.Steps[len(m.rec.Plan.Steps)-1]
			last.Kind = plan.StepUpdate
			last.Patches = append(slices.Clone(last.Patches), evil)
		}, func(err error) bool { _, ok := errors.AsType[*apply.UnapprovedError](err); return ok }},
		"another step than was confirmed": {func(act *apply.Act, _ *memory) { act.Confirmed = "step 9" }, func(err error) bool { return errors.Is(err, apply.ErrChanged) }},
	} {
		t.Run(name, func(t *testing.T) {
			r, m := atPause(t)
			before, err := r.Get(t.Context(), m.ref)
			must(t, err)
			act, held := promotion, m.holder
			c.spoil(&act, m)
			_, err = r.Do(t.Context(), m.ref, act)
			if !c.refusal(err) || m.holder != held {
				t.Errorf("%v, held by %q", err, m.holder)
			}
			after, err := r.Get(t.Context(), m.ref)
			must(t, err)
			if after.Version != before.Version || after.Progress.Promoted {
				t.Errorf("the record was changed: %+v", after.Progress)
			}
		})
	}
	t.Run("changed while it was decided", func(t *testing.T) {
		r, m := atPause(t)
		a := &approved{}
		r.Approvals = a
		m.meddles = func() {
			_, err := r.Change(t.Context(), m.ref, apply.Act{Transition: plan.TransitionAbort, Why: "ben has doubts"})
			must(t, err)
		}
		_, err := r.Do(t.Context(), m.ref, promotion)
		if refused, ok := errors.AsType[*plan.TransitionError](err); !ok || refused.Transition != plan.TransitionPromote || len(a.asked) != 1 || m.holder != "" {
			t.Errorf("%v, asked %d times", err, len(a.asked))
		}
	})
}

// TestDrive_DoesNotGoBack: what was not looked at, because the record was past it, is not
// carried out when a user sets the record back while the rollout is driven.
func TestDrive_DoesNotGoBack(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "1+pause", "2", "100%"), Pull: plan.PullNever})
	_, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true})
	must(t, err)
	_, err = r.Promote(t.Context(), m.ref, plan.Promotion{})
	must(t, err)
	back := false
	res, err := r.Drive(t.Context(), m.ref, apply.Options{Emit: func(event.Event) {
		if s, err := m.Snapshot(m.ref); !back && err == nil {
			back = true
			if err := m.Record(t.Context(), m.ref, s.Version, plan.Progress{}); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil || !back || res.Outcome != event.Failed {
		t.Errorf("%+v, %v, the record was set back: %t", res, err, back)
	}
}

// refusing approves nothing.
type refusing struct{ approved }

func (refusing) TakeOver(context.Context, apply.TakeOver) (bool, error) {
	return false, &apply.UnapprovedError{Reasons: []string{"it was edited"}}
}

// TestDo_ARefusalLeavesTheRecord: where no process drives a rollout, whether this one may is decided before
// the record is changed; a process that drives it decides for itself.
func TestDo_ARefusalLeavesTheRecord(t *testing.T) {
	for holder, promoted := range map[string]bool{"": false, "ben": true} {
		r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%")})
		if _, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
			t.Fatal(err)
		}
		r.Approvals, m.holder = &refusing{}, holder
		_, err := r.Do(t.Context(), m.ref, apply.Act{Transition: plan.TransitionPromote, Continues: true})
		if _, unapproved := errors.AsType[*apply.UnapprovedError](err); unapproved == promoted {
			t.Errorf("holder %q: %v", holder, err)
		}
		rec, err := r.Get(t.Context(), m.ref)
		if must(t, err); rec.Progress.Promoted != promoted {
			t.Errorf("holder %q: promoted %t", holder, rec.Progress.Promoted)
		}
	}
}

// TestRollBack_OfAnEditedRecordLeadsToTheRevisionBefore: a record that is not the one with which the rollout
// began may lead back to the revision before, and to no older one.
func TestRollBack_OfAnEditedRecordLeadsToTheRevisionBefore(t *testing.T) {
	policy := plan.Policy{Steps: steps(t, "1+pause", "100%"), Pull: plan.PullNever}
	for name, c := range map[string]struct {
		edit   func(now *plan.Plan, first plan.Plan)
		refuse bool
	}{
		"a title":           {func(now *plan.Plan, _ plan.Plan) { now.Steps[0].Title = "other" }, false},
		"an older template": {func(now *plan.Plan, first plan.Plan) { now.Change.FromHash = first.Change.FromHash }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), policy)
			first := m.plan
			if res, err := r.Run(t.Context(), m.ref, first, apply.Options{AtPause: true}); err != nil || res.Outcome != event.AtPause {
				t.Fatalf("%+v, %v", res, err)
			}
			_, err := r.Promote(t.Context(), m.ref, plan.Promotion{})
			must(t, err)
			if res, err := r.Drive(t.Context(), m.ref, apply.Options{}); err != nil || res.Outcome != event.Completed {
				t.Fatalf("%+v, %v", res, err)
			}
			s, err := m.Snapshot(m.ref)
			must(t, err)
			s.Progress = plan.Progress{}
			next, err := plan.Build(read(t, strings.ReplaceAll(cloneSet, "web:1", "web:3")), s, policy)
			must(t, err)
			if res, err := r.Run(t.Context(), m.ref, next, apply.Options{AtPause: true}); err != nil || res.Outcome != event.AtPause {
				t.Fatalf("%+v, %v", res, err)
			}
			m.rec.Plan.Steps = slices.Clone(m.rec.Plan.Steps)
			c.edit(&m.rec.Plan, first)
			res, err := r.RollBack(t.Context(), m.ref, apply.Options{})
			if _, unapproved := errors.AsType[*apply.UnapprovedError](err); unapproved != c.refuse {
				t.Errorf("%+v, %v", res, err)
			}
			if pods := m.images(t); pods["web:1"] != 0 || !c.refuse && pods["web:2"] != 6 {
				t.Errorf("%v", pods)
			}
		})
	}
}
