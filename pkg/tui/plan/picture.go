package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// picture is the simulation from its beginning to its end, and where in it one is: each
// column is a time.
type picture struct {
	run   *run
	at    time.Duration
	width int
}

// lines are the pods in each column, the new ones at the bottom. What is still to come is
// faint.
func (p picture) lines(symbols draw.Symbols, height int) []draw.Line {
	if height == 0 {
		return nil
	}
	most := 1
	samples := make([]simulate.Sample, p.width)
	for x := range samples {
		samples[x] = p.run.at(p.run.duration() * time.Duration(x) / time.Duration(max(p.width-1, 1)))
		most = max(most, samples[x].Total(), samples[x].Wanted)
	}
	now := p.columnOf(p.at)
	lines := make([]draw.Line, height)
	for y := range lines {
		level := (float64(height-1-y) + 0.5) / float64(height) * float64(most)
		lines[y] = draw.Text(draw.Plain, " ")
		lines[y].Spans = append(lines[y].Spans, row(symbols, samples, level, now)...)
	}
	return lines
}

// row is one line of the picture: the symbol of each column at a level.
func row(y draw.Symbols, samples []simulate.Sample, level float64, now int) []draw.Span {
	var spans []draw.Span
	for x, sample := range samples {
		cell := at(y, sample, level)
		if x > now && cell.Text != " " {
			cell.Style = draw.Faint
		}
		if n := len(spans); n > 0 && spans[n-1].Style == cell.Style {
			spans[n-1].Text += cell.Text
			continue
		}
		spans = append(spans, cell)
	}
	return spans
}

// at is the symbol at a level, counted in pods from the bottom.
func at(y draw.Symbols, n simulate.Sample, level float64) draw.Span {
	for _, part := range []draw.Part{
		{Count: n.New, Symbol: y.New, Style: draw.Updated},
		{Count: n.NewDown, Symbol: y.NewDown, Style: draw.Down},
		{Count: n.Old, Symbol: y.Old, Style: draw.Outdated},
		{Count: n.OldDown, Symbol: y.Down, Style: draw.Down},
		{Count: n.Wanted - n.Total(), Symbol: y.Empty, Style: draw.Faint},
	} {
		if level -= float64(part.Count); part.Count > 0 && level < 0 {
			return draw.Span{Text: part.Symbol, Style: part.Style}
		}
	}
	return draw.Span{Text: " "}
}

func (p picture) columnOf(t time.Duration) int {
	if p.run.duration() == 0 {
		return p.width - 1
	}
	return int(t * time.Duration(p.width-1) / p.run.duration())
}

// scrubber is the time as a line, with where steps begin and where one is.
func (p picture) scrubber(y draw.Symbols) draw.Line {
	marks := make([]string, p.width)
	for x := range marks {
		marks[x] = y.Rule
	}
	for _, m := range p.run.line.Steps {
		marks[p.columnOf(m.Begin)] = y.Dot
	}
	now := p.columnOf(p.at)
	return draw.Text(draw.Busy, " "+strings.Join(marks[:now], "")).Add(draw.Strong, y.Mark).Add(draw.Faint, strings.Join(marks[now+1:], ""))
}

// events are what has happened in the simulation so far, newest first.
func (s Screen) events(_ screen.Env, height int) []draw.Line {
	to, _ := slices.BinarySearchFunc(s.run.visible, s.at+1, func(rec simulate.Record, t time.Duration) int { return int(rec.At - t) })
	list := s.run.visible[:to]
	more := counted.Of(len(list), "change") + " so far"
	if s.find != "" {
		more += ", with " + s.find
	}
	lines := []draw.Line{draw.Heading("WHAT HAPPENS", more)}
	for i := len(list) - 1; i >= 0 && len(lines) < height; i-- {
		if l := eventLine(list[i]); s.find == "" || s.has(l.String()) {
			lines = append(lines, l)
		}
	}
	return draw.Exactly(lines, height)
}

func eventLine(r simulate.Record) draw.Line {
	word, _ := r.Op.Word()
	style := draw.Plain
	switch r.Op {
	case simulate.OpReady:
		style = draw.Good
	case simulate.OpWaiting:
		style = draw.Bad
	}
	l := draw.Text(draw.Faint, fmt.Sprintf("%7s ", clock(r.At))).Add(style, fmt.Sprintf("%-10s ", word)).Add(draw.Plain, r.Pod)
	if r.Container != "" {
		l = l.Add(draw.Faint, " "+r.Container)
	}
	if r.Op == simulate.OpWaiting {
		l = l.Add(draw.Bad, " "+r.To)
	}
	if r.Reason != "" {
		l = l.Add(draw.Faint, "  "+r.Reason)
	}
	return l
}
