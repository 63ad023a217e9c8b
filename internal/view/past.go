package view

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
)

// PastRollouts writes rollouts on record, the newest first, with their steps and decisions;
// fault is why those before the newest cannot be read.
func PastRollouts(w io.Writer, name string, list []plan.PastRollout, fault string, now time.Time, st Style) error {
	b := &builder{st: st}
	b.line("%s  %s", st.paint(bold, name), plural(len(list), "rollout"))
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
			b.line("  ... %s left out", plural(p.Left, "step"))
		}
		state := show.StepNext
		if s.Done {
			state = show.StepDone
		}
		took := ""
		if s.Done && !s.Begun.IsZero() {
			took = "  " + svg.Span(s.Took)
		}
		b.line("  %s", b.st.step(state, s.Name+": "+s.Title+took))
	}
	for _, d := range p.Decisions {
		text := fmt.Sprintf("%s  %s by %s", d.At.UTC().Format(time.RFC3339), d.What, d.By)
		if d.Program != "" {
			text += " with " + d.Program
		}
		if d.Detail != "" {
			text += ": " + d.Detail
		}
		b.line("  %s", text)
	}
}
