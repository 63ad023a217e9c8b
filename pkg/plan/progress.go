package plan

import (
	"fmt"
	"time"
)

// Progress is how far a rollout has come. It lives in the cluster, so any
// machine can continue it. Its zero value is a rollout that has not begun.
type Progress struct {
	// Step is the index of the present step, Started when it began; the first
	// step with a zero time has not begun.
	Step    int       `json:"step"`
	Started time.Time `json:"started,omitzero"`
	// Resumed is when the step was last resumed, whose time counts from then;
	// what it has asked for stays asked for. Zero if it never was.
	Resumed time.Time `json:"resumed,omitzero"`
	// Sent is how many of the step's patches have been seen in force.
	Sent int `json:"sent,omitempty"`
	// Promoted is true when a user has promoted the present step, which must
	// be a pause, or skipped what it waits for.
	Promoted bool `json:"promoted,omitempty"`
	// FirstCountingPause is the index of the first step whose pause counts: a user has promoted
	// all before it.
	FirstCountingPause int `json:"free,omitempty"`
	// PausedBy is who has put the rollout on hold, and when; empty while it is not. Nothing is
	// written meanwhile but what stops the controller.
	PausedBy string `json:"held,omitempty"`
	// PausedFrom is the index of the first step that the pause keeps from starting; those
	// before it are carried out.
	PausedFrom int `json:"heldFrom,omitempty"`
	// Failed is why the rollout stopped; empty while it continues.
	Failed string `json:"halted,omitempty"`
	// Aborted is true if a user ended the rollout: it is not rolled back because of that, whatever
	// its steps have for failures.
	Aborted bool `json:"aborted,omitempty"`
	// ControllerStop is what keeps the controller from updating pods while the rollout is on hold or
	// after it was aborted.
	Stop ControllerStop `json:"stop,omitzero"`
	// Finished is set when the last step was done.
	Finished time.Time `json:"finished,omitzero"`
}

// Promotion defines how far a rollout is promoted. Its zero value passes the present step.
type Promotion struct {
	// Full passes all pauses that are left; To is ignored then.
	Full bool
	// To passes the pauses up to this many updated pods; nil passes the present step.
	To *Amount
	// Past is the index of the step that is passed with the pauses before it, for a record that
	// lags behind; 0 is the present step. [Progress.PromotionAt] sets it.
	Past int
}

// PromotionAt returns what passes the step at which d, the decision of [Next], shows the
// rollout. The record lags behind the pods while no executor is at work: the rollout may
// already be at a pause ahead. Promoting the recorded step would then skip its
// checks, and the pause would still count.
func (p Progress) PromotionAt(d Decision) Promotion {
	if d.Step > p.Step && len(d.Blockers) > 0 && (d.Blockers[0].Gate == GatePromote || d.Blockers[0].Gate == GateTime) {
		return Promotion{Past: d.Step}
	}
	return Promotion{}
}

// firstCountingPause returns the index of the first step whose pause counts; 0 promotes the present
// step alone.
func (m Promotion) firstCountingPause(of Plan, step int) int {
	switch {
	case m.Full:
		return len(of.Steps)
	case m.Past > 0:
		return m.Past + 1
	case m.To == nil:
		return 0
	}
	want := m.To.Of(of.Limits.Replicas)
	for i := range of.Steps {
		if of.Steps[i].Updated >= want && i >= step {
			return i + 1
		}
	}
	return len(of.Steps)
}

// Promote passes the present step, whether it pauses or waits for a condition, or all
// pauses up to an amount. Verify steps ahead run all the same. A paused rollout
// continues.
func (p Progress) Promote(of Plan, how Promotion, now time.Time) (Progress, error) {
	if err := p.Allows(TransitionPromote, of); err != nil {
		return p, err
	}
	if p.PausedBy != "" {
		p = p.withoutHold().TakeOver(of, now)
	}
	if free := how.firstCountingPause(of, p.Step); free > 0 {
		p.FirstCountingPause = free
	} else {
		p.Promoted = true
	}
	return p, nil
}

// Pause pauses the rollout: no further step starts, and no further pod is updated,
// see [ControllerStop]. by names who pauses it, for others to read.
func (p Progress) Pause(of Plan, by string, now time.Time) (Progress, error) {
	if err := p.Allows(TransitionPause, of); err != nil {
		return p, err
	}
	p.PausedBy, p.PausedFrom, p.Stop = holdText(by, now), 0, p.Stop.requested()
	return p, nil
}

// PauseAfterStep puts the rollout on hold at the end of its present step.
func (p Progress) PauseAfterStep(of Plan, by string, now time.Time) (Progress, error) {
	if err := p.Allows(TransitionPause, of); err != nil {
		return p, err
	}
	p.PausedBy, p.PausedFrom, p.Stop = holdText(by, now), p.Step+1, p.Stop.withdrawn()
	return p, nil
}

func holdText(by string, now time.Time) string {
	return fmt.Sprintf("by %s at %s", by, now.UTC().Format(time.RFC3339))
}

// withoutHold ends a hold, and has the controller continue.
func (p Progress) withoutHold() Progress {
	p.PausedBy, p.PausedFrom, p.Stop = "", 0, p.Stop.withdrawn()
	return p
}

// holds reports whether a pause by a user keeps the present step from starting.
func (p Progress) holds() bool { return p.PausedBy != "" && p.Step >= p.PausedFrom }

// Resume ends a pause of a user. A rollout that is not paused, and that has no executor,
// is continued the same way.
func (p Progress) Resume(of Plan, now time.Time) (Progress, error) {
	if err := p.Allows(TransitionResume, of); err != nil {
		return p, err
	}
	return p.withoutHold().TakeOver(of, now), nil
}

// Check returns an error for a progress that the plan cannot have reached: records may be
// edited.
func (p Progress) Check(of Plan) error {
	n := len(of.Steps)
	switch {
	case p.Step < 0 || p.Step > n:
		return fmt.Errorf("the progress is not of this plan: step %d of %d", p.Step, n)
	case p.Sent < 0 || p.FirstCountingPause < 0 || p.PausedFrom < 0:
		return fmt.Errorf("the progress is not of this plan: patches sent: %d, first pause that counts: %d, paused from step %d", p.Sent, p.FirstCountingPause, p.PausedFrom)
	}
	return p.Stop.Check()
}

// TakeOver has the time limit of the present step count from now, since no process
// carried it out before. It is the same step: what it has asked for is not asked for again, and a pause
// of some minutes is no longer than that.
func (p Progress) TakeOver(of Plan, now time.Time) Progress {
	if s := p.currentStep(of); s != nil {
		p.Resumed = now.UTC()
	}
	return p
}

// Retry continues a rollout that has failed. The present step begins again: what it requests
// is requested again, and its time limit counts from now. A pause stays in force.
func (p Progress) Retry(of Plan, now time.Time) (Progress, error) {
	if err := p.Allows(TransitionRetry, of); err != nil {
		return p, err
	}
	p.Failed, p.Aborted, p.Started = "", false, now.UTC()
	if p.PausedBy == "" {
		p.Stop = p.Stop.withdrawn()
	}
	return p, nil
}

// Abort ends a rollout where it is, and has no further pod updated, see [ControllerStop]. Where it
// has halted already, the first reason stays.
func (p Progress) Abort(of Plan, why string) (Progress, error) {
	if err := p.Allows(TransitionAbort, of); err != nil {
		return p, err
	}
	p.Stop = p.Stop.requested()
	return p.halt(why), nil
}

// RollBack ends a rollout whose work is undone by the plan that [Back] makes, also one
// that is done, which stays as it is. It is recorded first, so that another process that
// carries out the rollout stops.
func (p Progress) RollBack(of Plan, why string) (Progress, error) {
	if err := p.Allows(TransitionRollBack, of); err != nil {
		return p, err
	}
	if p.State(of) == StateDone {
		return p, nil
	}
	return p.halt(why), nil
}

func (p Progress) halt(why string) Progress {
	p.Aborted = true
	if p.Failed == "" {
		p.Failed = why
	}
	return p
}

// Toggle is the transition of a control that pauses and resumes: it retries what has
// halted, resumes what is on hold and pauses all else.
func (p Progress) Toggle(of Plan) Transition {
	switch p.State(of) {
	case StateHalted:
		return TransitionRetry
	case StateHeld:
		return TransitionResume
	}
	return TransitionPause
}

// Describe returns the status in one sentence, as far as the record has it.
func (p Progress) Describe(of Plan) string { return p.Status(of).String() }

// currentStep returns the step that a rollout is at; nil where it is at none.
func (p Progress) currentStep(of Plan) *Step {
	if p.Step < 0 || p.Step >= len(of.Steps) {
		return nil
	}
	return &of.Steps[p.Step]
}
