package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Revision is one stored template of a workload.
type Revision struct {
	Number int64
	Name   string
	// Present is the one that the workload has now.
	Present bool
	// First is the oldest recorded one: what it changed is not known.
	First bool
	// Pods is how many carry it.
	Pods int
	// Cause is the recorded reason of the change, "" for none.
	Cause  string
	Fields []rules.FieldChange
	Mode   rules.UpdateMode
	// Template is what pods were made from, as decoded JSON; it is written in full style,
	// without what is likely to be secret.
	Template map[string]any
}

// History writes revisions, the oldest first; in full style with all values that
// changed.
func History(w io.Writer, name string, list []Revision, st Style) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "%s has no revisions\n", name)
		return err
	}
	b := &builder{st: st}
	if st.Full {
		for _, r := range list {
			b.line("%s revision %d (%s), %s", name, r.Number, r.Name, counted.Of(r.Pods, "pod"))
			if r.Cause != "" {
				b.line("change cause: %s", r.Cause)
			}
			b.fields(r.Fields, r.Mode)
			b.template(r.Template)
		}
		return b.write(w)
	}
	rows := [][]string{{"REVISION", "NAME", "PODS", "CHANGED", "UPDATE", "CHANGE-CAUSE"}}
	for _, r := range list {
		number := strconv.FormatInt(r.Number, 10)
		if r.Present {
			number += " (current)"
		}
		changed, update := "-", "-" // of the first it is not known
		if !r.First {
			changed, update = changedText(r.Fields), orDash(doneTo[r.Mode])
		}
		rows = append(rows, []string{number, r.Name, strconv.Itoa(r.Pods), changed, update, cmp.Or(r.Cause, "<none>")})
	}
	return st.table(w, rows)
}

// template writes a template as YAML.
func (b *builder) template(t map[string]any) {
	if len(t) == 0 {
		return
	}
	text, err := yaml.Marshal(redact.Object(t))
	if err != nil {
		return // decoded JSON always encodes
	}
	b.line("template:")
	for line := range strings.SplitSeq(strings.TrimRight(string(text), "\n"), "\n") {
		b.line("  %s", line)
	}
}

// mostPaths is how many changed fields a row names.
const mostPaths = 2

func changedText(fields []rules.FieldChange) string {
	var paths []string
	for _, f := range fields {
		paths = append(paths, f.Path)
	}
	if len(paths) > mostPaths {
		paths = append(paths[:mostPaths], fmt.Sprintf("%d more", len(paths)-mostPaths))
	}
	return orDash(strings.Join(paths, ", "))
}

// PastRollouts writes the recorded rollouts, the newest first, with their steps and decisions;
// fault is why those before the newest cannot be read.
func PastRollouts(w io.Writer, name string, list []plan.PastRollout, fault string, now time.Time, st Style) error {
	b := &builder{st: st}
	b.line("%s  %s", st.paint(bold, name), counted.Of(len(list), "rollout"))
	for _, p := range list {
		b.line("")
		b.past(p, now)
	}
	if fault != "" {
		b.line("")
		b.line("earlier rollouts cannot be read: %s", fault)
	}
	return b.write(w)
}

var resultColors = map[plan.RolloutResult]string{
	plan.RolloutCompleted: green, plan.RolloutRolledBack: green, plan.RolloutFailed: red, plan.RolloutAborted: yellow, plan.RolloutOnHold: yellow, plan.RolloutRunning: yellow,
}

// basis is after what time of a rollout something was decided, and upon what: how long the step had waited that was
// approved, which check had passed before it, and how long a rollout had been paused that was resumed.
func (b *builder) basis(p plan.PastRollout, d plan.AuditEntry) string {
	if d.What == string(plan.TransitionBegin) || d.At.Before(p.Begun) {
		return ""
	}
	text := ", " + svg.Span(d.At.Sub(p.Begun)) + " after the start"
	switch plan.Transition(d.What) {
	case plan.TransitionPromote:
		name, _, _ := strings.Cut(strings.TrimPrefix(d.Detail, "step "), ",")
		i := slices.IndexFunc(p.Steps, func(s plan.PastStep) bool { return s.Name == name })
		if i < 0 || p.Steps[i].Begun.IsZero() {
			return text
		}
		text += "; it had waited " + svg.Span(d.At.Sub(p.Steps[i].Begun))
		var passed []string
		for j := i - 1; j >= 0 && strings.HasPrefix(p.Steps[j].Name, "verify"); j-- {
			if p.Steps[j].Done {
				passed = append(passed, p.Steps[j].Name)
			}
		}
		if len(passed) > 0 {
			text += ", and " + strings.Join(passed, ", ") + " had passed"
		}
	case plan.TransitionResume:
		for _, before := range slices.Backward(p.Decisions) {
			if before.At.After(d.At) || before.What != string(plan.TransitionPause) {
				continue
			}
			return text + "; it had been paused for " + svg.Span(d.At.Sub(before.At))
		}
	}
	return text
}

func (b *builder) past(p plan.PastRollout, now time.Time) {
	text := b.st.paint(resultColors[p.Result], string(p.Result))
	if p.Ended.IsZero() {
		text += ", " + svg.Span(p.Took(now)) + " so far"
	} else {
		text += " at " + p.Ended.UTC().Format(time.RFC3339) + ", took " + svg.Span(p.Took(now))
	}
	b.line("%s  %s", p.Begun.UTC().Format(time.RFC3339), text)
	b.line("  started by %s", cmp.Or(p.By, "unknown"))
	if p.Change != "" {
		b.line("  change     %s", p.Change)
	}
	if p.Reason != "" {
		b.line("  reason     %s", p.Reason)
	}
	for i, s := range p.Steps {
		if p.Left > 0 && i == len(p.Steps)-1 {
			b.line("  ... %s left out", counted.Of(p.Left, "step"))
		}
		state := draw.StepNext
		if s.Done {
			state = draw.StepDone
		}
		took := ""
		if s.Done && !s.Begun.IsZero() {
			took = "  " + svg.Span(s.Took)
		}
		b.line("  %s", b.st.step(state, s.Name+": "+s.Title+took))
	}
	for _, d := range p.Decisions {
		text := d.At.UTC().Format(time.RFC3339) + "  " + d.Summary() + b.basis(p, d)
		if d.Program != "" {
			text += " with " + d.Program
		}
		if d.Detail != "" {
			text += ": " + d.Detail
		}
		b.line("  %s", text)
	}
}
