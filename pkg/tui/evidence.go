package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/evidence"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// proof is what the question of a promotion shows of the pods: nil while it is being read.
// The question does not wait for it.
type proof struct {
	turn int
	told *evidence.Comparison
	err  error
}

// prove begins to read the evidence for the question of a turn, where it is about promoting
// one workload and the source can compare its pods.
func (m Model) prove(turn int) (Model, tea.Cmd) {
	d, ok := m.over.(dialog)
	witness, can := m.options.Source.(world.Witness)
	if !ok || !can || d.turn != turn || d.act.Verb != world.Promote || len(d.act.On) != 1 || d.err != nil {
		return m, nil
	}
	m.proof = proof{turn: turn}
	ctx, ref := m.ctx, d.act.On[0]
	return m, func() tea.Msg {
		c, err := witness.Evidence(ctx, ref)
		return proof{turn, &c, err}
	}
}

// lines are those of a question about how new pods do beside old ones.
func (p proof) lines(turn, width int) []draw.Line {
	if turn == 0 || p.turn != turn {
		return nil
	}
	var lines []draw.Line
	switch {
	case p.told == nil:
		lines = []draw.Line{draw.Text(theme.Faint, "reading how the new pods do ...")}
	case p.err != nil:
		lines = draw.Wrap(theme.Faint, "how the new pods do cannot be read: "+p.err.Error(), width)
	default:
		lines = show.Evidence(*p.told, width)
	}
	return append([]draw.Line{{}}, lines...)
}
