package svg

import (
	"strconv"
	"time"
)

// tickSteps are the distances that people like to read on an axis of time.
var tickSteps = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// tickRoom is how many pixels a label on the axis of time needs.
const tickRoom = 64

// ticks returns the moments to label: even ones, where there is room.
func (s timeScale) ticks() []time.Duration {
	var out []time.Duration
	step, last := s.tickStep(), float64(left-tickRoom)
	for _, p := range s.parts {
		if p.cut {
			last = p.x1 - tickRoom/2 // its own label is in its middle
			continue
		}
		first := p.from.Truncate(step)
		if first < p.from {
			first += step
		}
		for t := first; t <= p.to; t += step {
			if x := s.at(t); x-last >= tickRoom && x <= right {
				out, last = append(out, t), x
			}
		}
	}
	return out
}

// tickStep is the smallest liked distance that leaves room for labels.
func (s timeScale) tickStep() time.Duration {
	var rate float64 // pixels per nanosecond outside cuts
	for _, p := range s.parts {
		if !p.cut && p.to > p.from {
			rate = (p.x1 - p.x0) / float64(p.to-p.from)
		}
	}
	for _, step := range tickSteps {
		if rate*float64(step) >= tickRoom {
			return step
		}
	}
	return tickSteps[len(tickSteps)-1]
}

// ticks returns even numbers of pods from 0 to the top.
func (s podScale) ticks() []int {
	step := 1
	for _, factor := range []int{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000} {
		if s.top/step <= 5 {
			break
		}
		step = factor
	}
	var out []int
	for n := 0; n <= s.top; n += step {
		out = append(out, n)
	}
	return out
}

// grid draws both axes.
func (c *canvas) grid(x timeScale, y podScale) {
	for _, n := range y.ticks() {
		c.line(left, y.at(n), right, y.at(n), "grid")
		c.text(left-8, y.at(n)+4, "muted small end", strconv.Itoa(n))
	}
	c.text(left-8, plotTop-10, "muted small end", "pods")
	c.line(left, plotBottom, right, plotBottom, "axis")
	for _, t := range x.ticks() {
		c.line(x.at(t), plotBottom, x.at(t), plotBottom+4, "axis")
		c.text(x.at(t), plotBottom+18, "muted small middle", Span(t))
	}
}

// breaks marks the stretches of time that are cut short, with their length: it is written
// with a plus, since the labels beside it are times since the beginning.
func (c *canvas) breaks(x timeScale) {
	for _, p := range x.parts {
		if !p.cut {
			continue
		}
		middle := (p.x0 + p.x1) / 2
		c.rect(middle-9, plotTop, 18, plotBottom-plotTop, "break", "nothing happens for "+Span(p.to-p.from))
		c.slashes(middle, plotBottom)
		c.text(middle, plotBottom+18, "muted small middle", "+ "+Span(p.to-p.from))
	}
}

// slashes are the mark of a stretch that is cut short.
func (c *canvas) slashes(x, y float64) {
	for _, shift := range []float64{-3, 3} {
		c.line(x+shift-3, y+5, x+shift+3, y-5, "axis")
	}
}
