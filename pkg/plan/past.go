package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// PastRollout is what a record keeps of a rollout, also after another one has taken its
// place. People who may write the record may edit it, so it informs and proves nothing.
type PastRollout struct {
	// Begun is when the rollout began, Ended when it ended; Ended is zero while it is in
	// flight.
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended,omitzero"`
	// Result is one of the constants below, Reason the reason in one line.
	Result RolloutResult `json:"result"`
	Reason string        `json:"reason,omitempty"`
	// By began it; Change is what it brought about, such as the images.
	By     string `json:"by,omitempty"`
	Change string `json:"change,omitempty"`
	// Steps are in order; Left is how many more there were before the last one kept.
	Steps []PastStep `json:"steps,omitempty"`
	Left  int        `json:"stepsLeftOut,omitempty"`
	// Decisions are those of users and of executors, oldest first.
	Decisions []AuditEntry `json:"decisions,omitempty"`
}

// PastStep is a step of a past rollout.
type PastStep struct {
	Name, Title string
	// Begun is zero for a step that was never reached. Took is zero for the present step.
	Begun time.Time
	Took  time.Duration
	Done  bool
}

// pastStep is a past step as JSON.
type pastStep struct {
	Name        string    `json:"name"`
	Title       string    `json:"title,omitempty"`
	Begun       time.Time `json:"begun,omitzero"`
	TookSeconds float64   `json:"tookSeconds,omitempty"`
	Done        bool      `json:"done"`
}

// MarshalJSON writes the duration in seconds.
func (s PastStep) MarshalJSON() ([]byte, error) {
	return json.Marshal(pastStep{s.Name, s.Title, s.Begun, s.Took.Seconds(), s.Done})
}

// UnmarshalJSON reads what [PastStep.MarshalJSON] writes.
func (s *PastStep) UnmarshalJSON(text []byte) error {
	var w pastStep
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	took := time.Duration(min(max(w.TookSeconds, 0), longestStep.Seconds()) * float64(time.Second))
	*s = PastStep{w.Name, w.Title, w.Begun, took, w.Done}
	return nil
}

// RolloutResult is what a rollout came to.
type RolloutResult string

// The results of rollouts.
const (
	RolloutRunning    RolloutResult = "in progress"
	RolloutOnHold     RolloutResult = "paused"
	RolloutCompleted  RolloutResult = "completed"
	RolloutRolledBack RolloutResult = "rolled back"
	RolloutFailed     RolloutResult = "failed"
	RolloutAborted    RolloutResult = "aborted"
	// RolloutUnknown is a result that this version does not know.
	RolloutUnknown RolloutResult = "unknown"
)

var rolloutResults = []RolloutResult{RolloutRunning, RolloutOnHold, RolloutCompleted, RolloutRolledBack, RolloutFailed, RolloutAborted}

// Took is how long the rollout ran until now, or until its end.
func (p PastRollout) Took(now time.Time) time.Duration {
	end := p.Ended
	if end.IsZero() {
		end = now
	}
	return clampDuration(end.Sub(p.Begun))
}

// The bounds of what is kept of past rollouts: rollouts, steps and decisions of each. Texts
// are bounded as those of an audit entry.
const (
	maxPast          = 10
	maxPastSteps     = 24
	maxPastDecisions = 12
	longestStep      = 10 * 365 * 24 * time.Hour
)

// Summary is what is kept of the recorded rollout.
func (r Record) Summary() PastRollout {
	out := PastRollout{Begun: r.Begun.UTC().Truncate(time.Second), By: r.By, Change: changeText(r.Plan)}
	out.Decisions = r.decisions(out.Begun)
	if len(out.Decisions) > 0 {
		out.By = out.Decisions[0].By
	}
	out.Result, out.Reason = r.result()
	out.Ended = r.ended(out)
	out.Steps = r.pastSteps(out)
	return out.Bounded()
}

// decisions are those since the plan was recorded; where that entry is no longer kept,
// those since a time.
func (r Record) decisions(begun time.Time) []AuditEntry {
	for i, e := range slices.Backward(r.Entries) {
		if e.What == string(TransitionBegin) || e.What == string(TransitionRollBack) {
			return slices.Clone(r.Entries[i:])
		}
	}
	i := slices.IndexFunc(r.Entries, func(e AuditEntry) bool { return !e.At.Before(begun) })
	if i < 0 {
		return nil
	}
	return slices.Clone(r.Entries[i:])
}

// result is what the rollout came to, and why.
func (r Record) result() (RolloutResult, string) {
	switch r.State() {
	case StateHeld:
		return RolloutOnHold, "on hold " + r.Progress.PausedBy
	case StateHalted:
		if r.Progress.Aborted {
			return RolloutAborted, r.Progress.Failed
		}
		return RolloutFailed, r.Progress.Failed
	case StateDone:
		if r.Plan.RollbackReason != "" {
			return RolloutRolledBack, r.Plan.RollbackReason
		}
		return RolloutCompleted, ""
	}
	return RolloutRunning, ""
}

// ended is when the rollout finished, or when it was ended as the history has it.
func (r Record) ended(p PastRollout) time.Time {
	if !r.Progress.Finished.IsZero() {
		return r.Progress.Finished.UTC().Truncate(time.Second)
	}
	if p.Result != RolloutFailed && p.Result != RolloutAborted {
		return time.Time{}
	}
	for _, e := range slices.Backward(p.Decisions) {
		if e.What == AuditHalt || e.What == string(TransitionAbort) {
			return e.At
		}
	}
	return time.Time{}
}

// pastSteps are the steps with their durations: a step ends when the next one that was
// reached begins, and the last when the rollout ends.
func (r Record) pastSteps(p PastRollout) []PastStep {
	out := make([]PastStep, len(r.Plan.Steps))
	end := p.Ended
	for i := len(out) - 1; i >= 0; i-- {
		s := &r.Plan.Steps[i]
		out[i] = PastStep{Name: s.Name, Title: s.Title, Begun: r.Times[s.Name].UTC().Truncate(time.Second), Done: i < r.Progress.Step || !r.Progress.Finished.IsZero()}
		if r.Times[s.Name].IsZero() {
			out[i].Begun = time.Time{}
			continue
		}
		if !end.IsZero() {
			out[i].Took = clampDuration(end.Sub(out[i].Begun))
		}
		end = out[i].Begun
	}
	return out
}

// changeText names the images that change, or how many fields do.
func changeText(p Plan) string {
	var images []string
	for _, f := range p.Change.Fields {
		old, ok := f.Old.(string)
		next, also := f.New.(string)
		if strings.HasSuffix(f.Path, ".image") && ok && also {
			images = append(images, old+" → "+next)
		}
	}
	switch {
	case len(images) > 2:
		return fmt.Sprintf("%s and %s", images[0], counted.Of(len(images)-1, "more image"))
	case len(images) > 0:
		return strings.Join(images, ", ")
	case len(p.Change.Fields) > 0:
		return fmt.Sprintf("%s of the template", counted.Of(len(p.Change.Fields), "field"))
	}
	return p.Change.Why
}

// Bounded returns the rollout within the bounds of what is kept, whatever was written into
// a record.
func (p PastRollout) Bounded() PastRollout {
	if !slices.Contains(rolloutResults, p.Result) {
		p.Result = RolloutUnknown
	}
	p.By, p.Reason, p.Change = truncated(p.By), truncated(p.Reason), truncated(p.Change)
	if n := len(p.Steps) - maxPastSteps; n > 0 {
		p.Left += n
		p.Steps = append(slices.Clone(p.Steps[:maxPastSteps-1]), p.Steps[len(p.Steps)-1])
	}
	p.Left = max(p.Left, 0)
	steps := make([]PastStep, len(p.Steps))
	for i, s := range p.Steps {
		s.Name, s.Title, s.Took = truncated(s.Name), truncated(s.Title), clampDuration(s.Took)
		steps[i] = s
	}
	p.Steps = steps
	if n := len(p.Decisions) - maxPastDecisions; n > 0 {
		p.Decisions = append(slices.Clone(p.Decisions[:1]), p.Decisions[1+n:]...)
	}
	decisions := make([]AuditEntry, len(p.Decisions))
	for i, d := range p.Decisions {
		d.By, d.Program, d.What, d.Detail = truncated(d.By), truncated(d.Program), truncated(d.What), truncated(d.Detail)
		decisions[i] = d
	}
	p.Decisions = decisions
	return p
}

func clampDuration(d time.Duration) time.Duration { return min(max(d, 0), longestStep) }

// Remember is what a record keeps of this one and of those before it, oldest first, when
// another plan takes its place at a time.
func (r Record) Remember(now time.Time) []PastRollout {
	last := r.Summary()
	if last.Ended.IsZero() {
		last.Ended = now.UTC().Truncate(time.Second)
	}
	return Recent(append(slices.Clone(r.Past), last))
}

// Recent are the rollouts that are kept of a list, oldest first, within their bounds.
func Recent(list []PastRollout) []PastRollout {
	list = list[max(len(list)-maxPast, 0):]
	out := make([]PastRollout, len(list))
	for i, p := range list {
		out[i] = p.Bounded()
	}
	return out
}

// Rollouts are the recorded one and those before it, the newest first.
func (r Record) Rollouts() []PastRollout {
	out := append(slices.Clone(r.Past), r.Summary())
	slices.Reverse(out)
	return out
}
