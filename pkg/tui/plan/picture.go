package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// band is one kind of pods in the picture.
type band struct {
	symbol string
	style  theme.Style
}

// picture is the simulation from its beginning to its end: in each column how the pods
// stand then, the new ones at the bottom. What is still to come is faint.
func (s Screen) picture(env screen.Env, height int) []draw.Line {
	if height == 0 {
		return nil
	}
	width, most := inner(env), 1
	samples := make([]simulate.Sample, width)
	for x := range samples {
		samples[x] = s.run.at(s.timeOf(x, width))
		most = max(most, samples[x].Total(), samples[x].Wanted)
	}
	now := s.columnOf(width)
	lines := make([]draw.Line, height)
	for y := range lines {
		level := (float64(height-1-y) + 0.5) / float64(height) * float64(most)
		lines[y] = draw.Text(theme.Plain, " ")
		lines[y].Spans = append(lines[y].Spans, row(env.Theme.Symbols, samples, level, now)...)
	}
	return lines
}

// row is one line of the picture: the symbol of each column at a level.
func row(y theme.Symbols, samples []simulate.Sample, level float64, now int) []draw.Span {
	var spans []draw.Span
	for x, sample := range samples {
		b := at(y, sample, level)
		if x > now && b.symbol != " " {
			b.style = theme.Faint
		}
		if n := len(spans); n > 0 && spans[n-1].Style == b.style {
			spans[n-1].Text += b.symbol
			continue
		}
		spans = append(spans, draw.Span{Text: b.symbol, Style: b.style})
	}
	return spans
}

// at is the symbol at a level, counted in pods from the bottom.
func at(y theme.Symbols, n simulate.Sample, level float64) band {
	for _, part := range []struct {
		count int
		band
	}{
		{n.New, band{y.New, theme.Updated}},
		{n.NewDown, band{y.NewDown, theme.Down}},
		{n.Old, band{y.Old, theme.Outdated}},
		{n.OldDown, band{y.Down, theme.Down}},
		{n.Wanted - n.Total(), band{y.Empty, theme.Faint}},
	} {
		if level -= float64(part.count); part.count > 0 && level < 0 {
			return part.band
		}
	}
	return band{" ", theme.Plain}
}

// inner leaves a column at each side, where there are so many.
func inner(env screen.Env) int { return max(env.Width-2, 1) }

func (s Screen) timeOf(x, width int) time.Duration {
	return s.run.lasts() * time.Duration(x) / time.Duration(max(width-1, 1))
}

func (s Screen) columnOf(width int) int {
	if s.run.lasts() == 0 {
		return width - 1
	}
	return int(s.at * time.Duration(width-1) / s.run.lasts())
}

// scrubber is the time as a line, with where steps begin and where one is.
func (s Screen) scrubber(env screen.Env) draw.Line {
	y, width := env.Theme.Symbols, inner(env)
	marks := make([]string, width)
	for x := range marks {
		marks[x] = y.Rule
	}
	for _, m := range s.run.line.Steps {
		begin := player{at: m.Begin}
		marks[Screen{run: s.run, player: begin}.columnOf(width)] = y.Dot
	}
	now := s.columnOf(width)
	return draw.Text(theme.Busy, " "+strings.Join(marks[:now], "")).Add(theme.Strong, y.Mark).Add(theme.Faint, strings.Join(marks[now+1:], ""))
}

// events are what has happened in the simulation so far, newest first.
func (s Screen) events(_ screen.Env, height int) []draw.Line {
	list := s.run.until(s.at)
	more := counted.Of(len(list), "change") + " so far"
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
