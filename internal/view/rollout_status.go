package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// RolloutStatus is the status of a rollout with what it is made from.
type RolloutStatus struct {
	Name string
	// Namespace is shown in lists of several.
	Namespace string
	Plan      plan.Plan
	Decision  plan.Decision
	Tally     plan.Tally
	Progress  plan.Progress
	// Begun is zero where no rollout is recorded; Times are when steps began.
	Begun time.Time
	Times map[string]time.Time
	// Holder is the executor; "" for none.
	Holder string
	Now    time.Time
}

// Status writes the status of a rollout: one sentence, the pods, the steps, and what to do.
func Status(w io.Writer, s RolloutStatus, st Style) error {
	b := &builder{st: st}
	status := s.status()
	b.line("%s  %s", st.paint(bold, s.Name), st.paint(statusColors[status.State], status.String()))
	b.line("  %s", bar(event.Counts(s.Tally), st))
	if !s.Begun.IsZero() {
		b.line("  started %s ago%s", svg.Span(s.Now.Sub(s.Begun)), s.executor())
		for i := range s.Plan.Steps {
			b.line("  %s", s.step(i, st))
		}
	}
	if s.Decision.Verb != plan.Done {
		for _, blocker := range s.Decision.Blockers {
			if text := blocker.Sentence(); text != status.Reason && text != status.State {
				b.line("  %s", st.paint(yellow, text))
			}
		}
	}
	if status.Remedy != "" {
		b.line("  %s", st.paint(faint, "hint: "+st.hint(status.Remedy)))
	}
	return b.write(w)
}

var statusColors = map[string]string{
	plan.StatusApproval: yellow, plan.StatusPaused: yellow, plan.StatusBlocked: red, plan.StatusFailed: red, plan.StatusAborted: yellow, plan.StatusRolledBack: yellow,
}

// status is the status in one sentence. A rollout that is not carried out by any process
// waits for one.
func (s RolloutStatus) status() plan.Status {
	out := plan.StatusOf(&s.Plan, s.Progress, s.Decision, !s.Begun.IsZero())
	if s.unattended() && out.State == plan.StatusProgressing {
		out.Remedy = s.Plan.Target.Command("resume")
		if s.Decision.Verb == plan.Act {
			out = out.Blocked("no process is running the rollout")
		}
	}
	for _, b := range s.Decision.Blockers {
		if out.State == plan.StatusProgressing && slices.Contains(failingGates, b.Gate) {
			return out.Blocked(b.Sentence())
		}
	}
	return out
}

// failingGates are what a rollout waits for that does not pass by itself: as in `why`, it is
// blocked then.
var failingGates = []string{plan.GateCrash, plan.GateImage, plan.GateSchedule}

// unattended reports whether a rollout is recorded that is to go on and has no executor.
func (s RolloutStatus) unattended() bool {
	return !s.Begun.IsZero() && s.Holder == "" && s.Decision.Verb != plan.Done && s.Decision.Verb != plan.Halt
}

func (s RolloutStatus) executor() string {
	switch {
	case s.Holder != "":
		return ", run by " + s.Holder
	case s.unattended():
		return ", no process is running it"
	}
	return ""
}

func (s RolloutStatus) step(i int, st Style) string {
	step := &s.Plan.Steps[i]
	state := draw.StepNext
	switch at := s.Decision.Step; {
	case s.Decision.Verb == plan.Done || i < at:
		state = draw.StepDone
	case i == at && s.Decision.Verb == plan.Halt:
		state = draw.StepFailed
	case i == at && (step.Kind == plan.StepPause || s.Progress.PausedBy != ""):
		state = draw.StepPaused
	case i == at:
		state = draw.StepNow
	}
	text := fmt.Sprintf("%d %s: %s", i+1, step.Name, step.Title)
	if at, ok := s.Times[step.Name]; ok {
		text += "  (" + at.Local().Format(time.TimeOnly) + ")"
	}
	return st.step(state, text)
}

// JSON is the status as data.
func (s RolloutStatus) JSON() any {
	type step struct {
		Name  string     `json:"name"`
		Kind  string     `json:"kind"`
		Title string     `json:"title"`
		Begun *time.Time `json:"begun,omitempty"`
	}
	out := struct {
		Name     string         `json:"name"`
		Space    string         `json:"namespace,omitempty"`
		State    string         `json:"state"`
		Step     int            `json:"step"`
		Steps    []step         `json:"steps"`
		Pods     map[string]int `json:"pods"`
		Status   string         `json:"status"`
		Reason   string         `json:"reason,omitempty"`
		Blockers []string       `json:"blockers,omitempty"`
		Holder   string         `json:"holder,omitempty"`
		Driver   string         `json:"driver"`
	}{
		Name: s.Name, Space: s.Namespace, State: string(s.Decision.Verb), Status: s.status().String(), Step: s.Decision.Step, Steps: []step{}, Reason: s.Decision.Reason, Holder: s.Holder, Driver: string(s.Plan.Driver),
		Pods: map[string]int{"desired": s.Tally.Desired, "total": s.Tally.Total, "ready": s.Tally.Ready, "updated": s.Tally.Updated, "updatedReady": s.Tally.UpdatedReady},
	}
	for i := range s.Plan.Steps {
		one := step{Name: s.Plan.Steps[i].Name, Kind: string(s.Plan.Steps[i].Kind), Title: s.Plan.Steps[i].Title}
		if at, ok := s.Times[one.Name]; ok {
			one.Begun = &at
		}
		out.Steps = append(out.Steps, one)
	}
	for _, b := range s.Decision.Blockers {
		out.Blockers = append(out.Blockers, b.String())
	}
	return out
}

// RolloutRow is one rollout of a list, or a record that cannot be read: one without Steps.
type RolloutRow struct {
	Namespace, Name, Driver string
	// Parent is the UnitedDeployment that the workload is a subset of; "" for none.
	Parent string
	// Group is the group of rollouts that it is in; "" for none.
	Group          string
	Step, Steps    int
	Status, Holder string
	Begun          time.Time
}

// Rollouts writes a list of rollouts.
func Rollouts(w io.Writer, list []RolloutRow, st Style) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no rollout is in progress")
		return err
	}
	rows := [][]string{{"NAMESPACE", "NAME", "SUBSET OF", "DRIVER", "STEP", "STARTED", "EXECUTOR", "STATUS"}}
	for _, r := range list {
		var step, started string
		if r.Steps > 0 {
			step, started = fmt.Sprintf("%d/%d", r.Step, r.Steps), r.Begun.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{
			orDash(r.Namespace), r.Name, orDash(r.Parent), orDash(r.Driver), orDash(step), orDash(started), orDash(r.Holder), r.Status,
		})
	}
	if slices.ContainsFunc(list, func(r RolloutRow) bool { return r.Group != "" }) {
		withColumn(rows, 3, "GROUP", func(i int) string { return list[i].Group })
	}
	return st.table(w, rows)
}

func orDash(s string) string { return cmp.Or(s, "-") }
