package view

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// RecordPage is all that a reader is shown of a rollout that is recorded: its plan, how far it
// came, and what was decided.
type RecordPage struct {
	Plan PlanPage
	// State is how far the rollout is, and Text the same in words.
	State plan.State
	Text  string
	// Failed is why it stopped, "" where it did not.
	Failed string
	// Digest is that of the plan, By who wrote the record last.
	Digest, By string
	// Begun and Finished are zero where that is not known; Took is how long the rollout took,
	// "" while it runs.
	Begun, Finished time.Time
	Took            string
	Steps           []RecordStep
	History         []plan.AuditEntry
	// Dropped is how many entries are missing after the first.
	Dropped int
}

// RecordStep is one step of a rollout that is recorded.
type RecordStep struct {
	PlanStep
	// State is done, current, failed or pending.
	State string
	// Begun is zero for a step that did not begin; Took is "" for one that did not end.
	Begun time.Time
	Took  string
}

// The states of a step.
const (
	StepDone    = "done"
	stepCurrent = "current"
	stepFailed  = "failed"
	stepPending = "pending"
)

// NewRecordPage reads a record.
func NewRecordPage(rec plan.Record, digest string) RecordPage {
	page := RecordPage{
		Plan: NewPlanPage(rec.Plan, nil), State: rec.State(), Text: rec.Describe(), Failed: rec.Progress.Failed, Digest: digest, By: rec.By,
		Begun: rec.Begun, Finished: rec.Progress.Finished, History: rec.Entries, Dropped: rec.Dropped,
	}
	end := endOfRecord(rec)
	if !end.IsZero() && !rec.Begun.IsZero() {
		page.Took = svg.Span(end.Sub(rec.Begun))
	}
	for i := range page.Plan.Steps {
		step := RecordStep{PlanStep: page.Plan.Steps[i], State: stepState(rec, i), Begun: rec.Times[page.Plan.Steps[i].Name]}
		if to := stepEnd(rec, i, end); !step.Begun.IsZero() && !to.IsZero() {
			step.Took = svg.Span(to.Sub(step.Begun))
		}
		page.Steps = append(page.Steps, step)
	}
	return page
}

// endOfRecord is when a rollout was done or stopped; zero while it runs.
func endOfRecord(rec plan.Record) time.Time {
	if !rec.Progress.Finished.IsZero() {
		return rec.Progress.Finished
	}
	if rec.State() != plan.StateHalted {
		return time.Time{}
	}
	for _, e := range slices.Backward(rec.Entries) {
		switch e.What {
		case plan.AuditHalt, string(plan.TransitionAbort), string(plan.TransitionRollBack):
			return e.At
		}
	}
	return time.Time{}
}

func stepState(rec plan.Record, i int) string {
	at := rec.Progress.Step
	switch {
	case rec.State() == plan.StateDone || i < at:
		return StepDone
	case i > at:
		return stepPending
	case rec.State() == plan.StateHalted:
		return stepFailed
	}
	return stepCurrent
}

// stepEnd is when a step ended: when the next one that is recorded began, or the rollout ended.
func stepEnd(rec plan.Record, i int, end time.Time) time.Time {
	if i > rec.Progress.Step && rec.State() != plan.StateDone {
		return time.Time{}
	}
	for _, later := range rec.Plan.Steps[i+1:] {
		if at, ok := rec.Times[later.Name]; ok {
			return at
		}
	}
	return end
}
