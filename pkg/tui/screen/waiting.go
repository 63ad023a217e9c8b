package screen

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Waiting is what stands where the workload that a screen wants is not there yet: what
// is awaited or, where that is known, why it does not come.
func (e Env) Waiting(what string) []draw.Line {
	if e.World.Unseen == "" {
		return []draw.Line{{}, draw.Text(theme.Busy, "  loading "+what+" ...")}
	}
	lines := []draw.Line{{}, draw.Text(theme.Bad, "  "+what+" cannot be loaded:")}
	for _, l := range draw.Wrap(theme.Plain, e.World.Unseen, e.Width-6) {
		lines = append(lines, draw.Text(theme.Plain, "    ").Join(l))
	}
	return append(lines, draw.Text(theme.Faint, "  trying again ..."))
}
