package view

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// RolloutStatus is how a rollout stands.
type RolloutStatus struct {
	Name string
	// Namespace is said where several are told of.
	Namespace string
	Plan      plan.Plan
	Decision  plan.Decision
	Tally     plan.Tally
	Progress  plan.Progress
	// Begun is zero where no rollout is on record; Times are when steps began.
	Begun time.Time
	Times map[string]time.Time
	// Holder is who drives it now.
	Holder string
	Now    time.Time
}

// Status writes how a rollout stands: the ladder, the pods, and what it waits for.
func Status(w io.Writer, s RolloutStatus, st Style) error {
	b := &builder{st: st}
	b.line("%s  %s", st.paint(bold, s.Name), s.headline())
	b.line("  %s", bar(event.Counts(s.Tally), st))
	if !s.Begun.IsZero() {
		b.line("  begun %s ago%s", svg.Span(s.Now.Sub(s.Begun)), s.drivenBy())
		for i := range s.Plan.Steps {
			b.line("  %s", s.rung(i, st))
		}
	}
	if reason := s.Decision.Reason; reason != "" && s.Decision.Verb != plan.Done {
		b.line("  %s", st.paint(yellow, s.verb()+": "+reason))
		for _, blocker := range s.Decision.Blockers {
			if text := blocker.String(); text != reason {
				b.line("    %s", text)
			}
		}
	}
	return b.write(w)
}

func (s RolloutStatus) drivenBy() string {
	switch {
	case s.Holder != "":
		return ", driven by " + s.Holder
	case s.Decision.Verb == plan.Done, s.Decision.Verb == plan.Halt:
		return ""
	}
	return ", driven by nobody: 'rollout resume' goes on"
}

func (s RolloutStatus) headline() string {
	switch {
	case s.Decision.Verb == plan.Done && s.Plan.RollsBack != "":
		return "rolled back: " + s.Plan.RollsBack
	case s.Decision.Verb == plan.Done:
		return "complete"
	case s.Decision.Verb == plan.Halt:
		return "halted"
	case s.Begun.IsZero():
		return "in progress"
	}
	return fmt.Sprintf("step %d of %d", min(s.Decision.Step+1, len(s.Plan.Steps)), len(s.Plan.Steps))
}

func (s RolloutStatus) verb() string {
	switch s.Decision.Verb {
	case plan.Wait:
		return "waits"
	case plan.Act:
		return "next"
	}
	return "halted"
}

func (s RolloutStatus) rung(i int, st Style) string {
	step := &s.Plan.Steps[i]
	state := stepNext
	switch at := s.Decision.Step; {
	case s.Decision.Verb == plan.Done || i < at:
		state = stepOver
	case i == at && s.Decision.Verb == plan.Halt:
		state = stepFailed
	case i == at && (step.Kind == plan.StepPause || s.Progress.Held != ""):
		state = stepPaused
	case i == at:
		state = stepNow
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
		Reason   string         `json:"reason,omitempty"`
		Blockers []string       `json:"blockers,omitempty"`
		Holder   string         `json:"holder,omitempty"`
		Driver   string         `json:"driver"`
	}{
		Name: s.Name, Space: s.Namespace, State: string(s.Decision.Verb), Step: s.Decision.Step, Steps: []step{}, Reason: s.Decision.Reason, Holder: s.Holder, Driver: string(s.Plan.Driver),
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

// RolloutRow is one rollout of a list.
type RolloutRow struct {
	Namespace, Name, Driver string
	// Parent is the UnitedDeployment that the workload is a subset of; "" for none.
	Parent         string
	Step, Steps    int
	Stands, Holder string
	Begun          time.Time
}

// Rollouts writes a list of rollouts.
func Rollouts(w io.Writer, list []RolloutRow, st Style) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no rollout is under way")
		return err
	}
	rows := [][]string{{"NAMESPACE", "NAME", "SUBSET OF", "DRIVER", "STEP", "BEGUN", "DRIVEN BY", "STANDS"}}
	for _, r := range list {
		rows = append(rows, []string{
			orDash(r.Namespace), r.Name, orDash(r.Parent), r.Driver, fmt.Sprintf("%d/%d", r.Step, r.Steps), r.Begun.UTC().Format(time.RFC3339), orDash(r.Holder), r.Stands,
		})
	}
	return st.table(w, rows)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
