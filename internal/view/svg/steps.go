package svg

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// steps draws a lane above the plot, with a box per step and a mark at its
// beginning. A box holds the step's name, or its number, or neither.
func (c *canvas) steps(list []simulate.StepMark, x timeScale, end time.Duration) {
	marked := float64(left)
	for i, s := range list {
		from, to := x.at(s.Begin), x.at(end)
		if s.End >= 0 {
			to = x.at(s.End)
		}
		class := "even"
		if i%2 == 1 {
			class = "odd"
		}
		c.rect(from, laneTop, max(to-from, 1.5), laneHeight, class, fmt.Sprintf("%d. %s, %s", i+1, cmp.Or(s.Title, s.Name), stretch(s)))
		if label := laneLabel(i, s.Name, to-from); label != "" {
			c.text((from+to)/2, laneTop+14, "fg small middle", label)
		}
		if from-marked >= 8 {
			c.line(from, laneTop+laneHeight, from, plotBottom, "mark")
			marked = from
		}
	}
}

// laneLabel is the name if there is room, else the number.
func laneLabel(i int, name string, pixels float64) string {
	if name != "" && fit(name, pixels-6) == name {
		return name
	}
	if number := strconv.Itoa(i + 1); fit(number, pixels-2) == number {
		return number
	}
	return ""
}

// stretch says from when to when a step went.
func stretch(s simulate.StepMark) string {
	if s.End < 0 {
		return "from " + Span(s.Begin) + ", not finished"
	}
	return Span(s.Begin) + " to " + Span(s.End)
}

// mostRows is how many steps the table holds.
const mostRows = 12

func (c *canvas) table(list []simulate.StepMark) {
	for i, s := range list[:min(len(list), mostRows)] {
		y, number, when := float64(tableY+i*rowHeight), strconv.Itoa(i+1), stretch(s)
		if i == mostRows-1 && len(list) > mostRows {
			s, number, when = simulate.StepMark{Title: "and " + counted.Of(len(list)-i, "more step")}, "", ""
		}
		c.text(left, y, "muted", number)
		c.text(left+24, y, "fg", fit(s.Name, 130))
		c.text(left+160, y, "muted", fit(s.Title, 520))
		c.text(right, y, "muted end", when)
	}
}

// legend explains colours and lines.
func (c *canvas) legend(least int, cut bool) {
	x := float64(left)
	entry := func(text string, draw func()) {
		draw()
		c.text(x+20, legendY, "muted", text)
		x += 20 + 6.6*float64(len(text)) + 24
	}
	box := func(class string) func() { return func() { c.rect(x, legendY-10, 12, 12, class, "") } }
	stroke := func(class string) func() { return func() { c.line(x, legendY-4, x+14, legendY-4, class) } }
	entry("new, available", box("new"))
	entry("old, available", box("old"))
	entry("not available", box("down"))
	entry("wanted", stroke("wanted"))
	if least >= 0 {
		entry(fmt.Sprintf("never fewer available than %d", least), stroke("least"))
	}
	if cut {
		entry("wait cut short", func() { c.slashes(x+7, legendY-4) })
	}
}
