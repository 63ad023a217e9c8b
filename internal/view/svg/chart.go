package svg

import (
	"fmt"
	"strings"
)

// The part of a picture that a chart shows: the lane of the steps and the plot.
const (
	chartTop    = laneTop - 6
	chartBottom = plotBottom + 26
)

// Chart is the picture as an element of a page, which has the title, the legend and the table
// of steps itself, and a style sheet for the classes. id makes the identifiers of its title and
// description unique in the page. The attribute data-scale maps time to the horizontal: for
// each stretch its beginning and end in seconds, and the places of both.
func Chart(p Picture, id string) string {
	end := endOf(p.Timeline)
	x := newTimeScale(eventsOf(p.Timeline, end), end)
	y := newPodScale(p.Timeline.Samples, p.Least)
	c := &canvas{}
	c.put(`<svg class="chart" width="%d" height="%d" viewBox="0 %d %d %d" role="img" aria-labelledby="%[6]s-title %[6]s-desc" font-family="%[7]s" font-size="12" data-scale="%[8]s">`,
		width, chartBottom-chartTop, chartTop, width, chartBottom-chartTop, escape(id), font, x.data())
	c.put("\n<title id=\"%[1]s-title\">%[2]s</title>\n<desc id=\"%[1]s-desc\">%[3]s</desc>\n", escape(id), escape(p.Title), escape(p.Description))
	c.plot(p, x, y, end)
	c.put("</svg>\n")
	return c.String()
}

// data writes the scale for programs.
func (s timeScale) data() string {
	var out []string
	for _, p := range s.parts {
		out = append(out, fmt.Sprintf("%g,%g,%s,%s", p.from.Seconds(), p.to.Seconds(), number(p.x0), number(p.x1)))
	}
	return strings.Join(out, " ")
}
