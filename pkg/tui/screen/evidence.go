package screen

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Evidence is how new pods do beside old ones: in two columns, below each other where there
// is no room for that.
func Evidence(c diagnose.Comparison, width int) []draw.Line {
	rows := append([]diagnose.Row{{What: "evidence", New: "new pods", Old: "old pods"}}, c.Rows()...)
	what, first, second := 0, 0, 0
	for _, r := range rows {
		what, first, second = max(what, draw.Width(r.What)), max(first, draw.Width(r.New)), max(second, draw.Width(r.Old))
	}
	var lines []draw.Line
	for i, r := range rows {
		style := draw.Plain
		if i == 0 {
			style = draw.Header
		}
		if what+first+second+4 <= width {
			lines = append(lines, draw.Text(draw.Faint, pad(r.What, what+2)).Add(style, pad(r.New, first+2)+r.Old))
			continue
		}
		if i > 0 {
			lines = append(lines, draw.Wrap(draw.Plain, r.What+": "+r.New+" new, "+r.Old+" old", width)...)
		}
	}
	for _, note := range c.Notes() {
		lines = append(lines, draw.Wrap(draw.Faint, note, width)...)
	}
	return lines
}

func pad(text string, width int) string { return text + draw.Spaces(width-draw.Width(text)) }
