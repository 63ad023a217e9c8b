// Package svg draws a timeline as a picture: pods over time as stacked areas, the
// budget as a line, the steps above. The picture is one file without script and
// without fonts of its own, reads well on light and on dark ground (by the
// viewer's preference), and says in words what it shows for those who cannot see
// it.
package svg

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// Picture is what is drawn.
type Picture struct {
	// Title is shown above; Description says in words what can be seen.
	Title, Description string
	Timeline           simulate.Timeline
	// Least is how many pods must be available at any time; a negative number
	// draws no line.
	Least int
}

// The places of things, in pixels. The table of steps is below the legend
// and makes the picture as high as it needs to be.
const (
	width      = 960
	left       = 56
	right      = 936
	titleY     = 30
	subtitleY  = 50
	laneTop    = 68
	laneHeight = 20
	plotTop    = 96
	plotBottom = 336
	legendY    = 384
	tableY     = 420
	rowHeight  = 20
)

// Draw writes the picture.
func Draw(w io.Writer, p Picture) error {
	end := endOf(p.Timeline)
	x := newTimeScale(eventsOf(p.Timeline, end), end)
	y := newPodScale(p.Timeline.Samples, p.Least)
	height := tableY + rowHeight*min(len(p.Timeline.Steps), mostRows)
	c := &canvas{}
	c.open(height, p.Title, p.Description)
	c.text(left, titleY, "fg title", p.Title)
	c.text(left, subtitleY, "muted", p.Description)
	c.plot(p, x, y, end)
	c.legend(p.Least, x.cut())
	c.table(p.Timeline.Steps)
	c.put("</svg>\n")
	_, err := io.WriteString(w, c.String())
	return err
}

// plot draws both axes, the pods and the steps.
func (c *canvas) plot(p Picture, x timeScale, y podScale, end time.Duration) {
	c.grid(x, y)
	c.areas(columns(p.Timeline.Samples, x, end), y)
	c.breaks(x)
	c.wanted(p.Timeline.Samples, x, y, end)
	c.least(p.Least, y)
	c.steps(p.Timeline.Steps, x, end)
}

// endOf is when the picture ends: at least a second after its beginning.
func endOf(t simulate.Timeline) time.Duration {
	end := max(t.Summary.Duration, time.Second)
	for _, s := range t.Samples {
		end = max(end, s.At)
	}
	for _, s := range t.Steps {
		end = max(end, s.Begin, s.End)
	}
	return end
}

// eventsOf are all moments at which something in the picture changes, in no
// order.
func eventsOf(t simulate.Timeline, end time.Duration) []time.Duration {
	out := []time.Duration{0, end}
	for _, s := range t.Samples {
		out = append(out, s.At)
	}
	for _, s := range t.Steps {
		out = append(out, s.Begin)
		if s.End >= 0 {
			out = append(out, s.End)
		}
	}
	return out
}

// Span writes a length of time as people say it: 0.5s, 40s, 1m30s, 2h5m.
func Span(d time.Duration) string {
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second && tenths%time.Second != 0 {
		return fmt.Sprintf("%.1fs", tenths.Seconds())
	}
	if d = d.Round(time.Second); d >= time.Hour {
		d = d.Round(time.Minute)
	}
	hours, minutes, seconds := d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second
	switch {
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%dh", hours)
	case minutes > 0 && seconds > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	case minutes > 0:
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%ds", seconds)
}
