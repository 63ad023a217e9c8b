package view

import (
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

var outcomeWords = map[simulate.Outcome]string{
	simulate.Completed: "completes in ", simulate.Waiting: "waits for approval after ",
	simulate.Halted: "fails after ", simulate.Stuck: "stalls after ",
}

var outcomeColors = map[simulate.Outcome]string{simulate.Completed: green, simulate.Waiting: yellow, simulate.Halted: red, simulate.Stuck: red}

// Outcome writes how a run ends, in numbers.
func Outcome(w io.Writer, s simulate.Summary, st Style) error {
	b := &builder{st: st}
	b.line("%s", st.paint(outcomeColors[s.Outcome], OutcomeText(s)))
	if s.Reason != "" {
		b.line("  reason        %s", s.Reason)
	}
	b.line("  unavailable   at most %s", plural(s.MostDown, "pod"))
	b.line("  pods          at most %s", plural(s.MostPods, "pod"))
	b.line("  restarts      %s in place, %s recreated", plural(s.Restarts, "container"), plural(s.Recreated, "pod"))
	b.line("  image pulls   %d", s.Pulls)
	b.line("  API writes    %d", s.Writes)
	return b.write(w)
}

// OutcomeText says in a few words how a run ends and after how long.
func OutcomeText(s simulate.Summary) string {
	return outcomeWords[s.Outcome] + svg.Span(s.Duration)
}
