package plan

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// events are what has happened in the simulation so far, newest first.
func (s Screen) events(_ screen.Env, height int) []draw.Line {
	list := s.run.until(s.at)
	more := show.Count(len(list), "change") + " so far"
	if s.find != "" {
		more += ", with " + s.find
	}
	lines := []draw.Line{heading("WHAT HAPPENS", more)}
	for i := len(list) - 1; i >= 0 && len(lines) < height; i-- {
		if l := happening(list[i]); s.find == "" || s.has(l.String()) {
			lines = append(lines, l)
		}
	}
	return draw.Exactly(lines, height)
}

func happening(r simulate.Record) draw.Line {
	word, _ := r.Op.Word()
	style := theme.Plain
	switch r.Op {
	case simulate.OpReady:
		style = theme.Good
	case simulate.OpWaiting:
		style = theme.Bad
	}
	l := draw.Text(theme.Faint, fmt.Sprintf("%7s ", clock(r.At))).Add(style, fmt.Sprintf("%-10s ", word)).Add(theme.Plain, r.Pod)
	if r.Container != "" {
		l = l.Add(theme.Faint, " "+r.Container)
	}
	if r.Op == simulate.OpWaiting {
		l = l.Add(theme.Bad, " "+r.To)
	}
	if r.Reason != "" {
		l = l.Add(theme.Faint, "  "+r.Reason)
	}
	return l
}
