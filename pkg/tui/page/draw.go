package page

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Draw is the rows that are seen, with what is looked for marked.
func (p Page) Draw(th *theme.Theme) []draw.Line {
	var out []draw.Line
	for _, r := range p.rows[p.top:min(p.top+p.height, len(p.rows))] {
		gutter := draw.Text(theme.Plain, " ")
		if p.present(r.line) {
			gutter = draw.Text(theme.Title, th.Symbols.Cursor)
		}
		out = append(out, gutter.Join(p.marked(r.part).From(p.left)))
	}
	return out
}

// present reports whether a line is the one that the search is at.
func (p Page) present(line int) bool {
	return len(p.find.hits) > 0 && p.find.hits[p.find.at] == line
}

// marked is a line with what is looked for in the style of what was found.
func (p Page) marked(l draw.Line) draw.Line {
	if p.find.is == nil {
		return l
	}
	out := draw.Line{}
	hits := p.find.is.FindAllStringIndex(l.String(), -1)
	at := 0
	for _, s := range l.Spans {
		out = out.Join(split(s, at, hits))
		at += len(s.Text)
	}
	return out
}

// split divides a span that begins at an index of its line where hits begin and end.
func split(s draw.Span, at int, hits [][]int) draw.Line {
	var out draw.Line
	done := 0
	for _, h := range hits {
		from, to := max(h[0]-at, done), min(h[1]-at, len(s.Text))
		if from >= to {
			continue
		}
		out = out.Add(s.Style, s.Text[done:from]).Add(theme.Found, s.Text[from:to])
		done = to
	}
	return out.Add(s.Style, s.Text[done:])
}

// Place is where one is: what is searched for, and which lines are seen.
func (p Page) Place() draw.Line {
	l := draw.Text(theme.Key, " "+p.Found()+" ")
	if p.Len() == 0 {
		return l
	}
	return l.Add(theme.Faint, fmt.Sprintf(" %d-%d of %d ", p.Top(), p.Bottom(), p.Len()))
}
