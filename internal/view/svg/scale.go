package svg

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// timeScale maps time to the horizontal. Long stretches in which nothing happens, such as
// pauses of minutes, are cut short: else they would be all that can be seen.
type timeScale struct{ parts []part }

// part is a stretch of time with its place; cut ones are shorter than they would
// be.
type part struct {
	from, to time.Duration
	x0, x1   float64
	cut      bool
}

const (
	// cutWidth is what a stretch that is cut keeps.
	cutWidth = 64
	// mostCuts is how many stretches are cut at most; with more the picture would
	// be about cuts.
	mostCuts = 8
	// cutRatio is by how much the shortest stretch that is cut is longer than the
	// longest that is not.
	cutRatio = 4
	// cutLeast is the shortest stretch that is cut: a reader does not expect seconds to be.
	cutLeast = time.Minute
	// cutShare is which part of the time the cut stretches must be.
	cutShare = 0.4
)

func newTimeScale(events []time.Duration, end time.Duration) timeScale {
	slices.Sort(events)
	events = slices.Compact(events)
	limit := cutLimit(events, end)
	var parts []part
	for i := 1; i < len(events); i++ {
		cut := limit > 0 && events[i]-events[i-1] >= limit
		if last := len(parts) - 1; !cut && last >= 0 && !parts[last].cut {
			parts[last].to = events[i]
			continue
		}
		parts = append(parts, part{from: events[i-1], to: events[i], cut: cut})
	}
	place(parts)
	return timeScale{parts}
}

// cutLimit returns from which length on a stretch is cut, 0 for none.
func cutLimit(events []time.Duration, end time.Duration) time.Duration {
	gaps := make([]time.Duration, 0, len(events))
	for i := 1; i < len(events); i++ {
		gaps = append(gaps, events[i]-events[i-1])
	}
	slices.Sort(gaps)
	slices.Reverse(gaps)
	var sum time.Duration
	for i := range min(mostCuts, len(gaps)-1) {
		if gaps[i] < cutLeast {
			return 0
		}
		sum += gaps[i]
		if gaps[i] >= cutRatio*gaps[i+1] && float64(sum) >= cutShare*float64(end) {
			return gaps[i]
		}
	}
	return 0
}

// place gives each part its width: cut ones a fixed one, the others by time.
func place(parts []part) {
	var flowing time.Duration
	cuts := 0
	for _, p := range parts {
		if p.cut {
			cuts++
			continue
		}
		flowing += p.to - p.from
	}
	room, at := float64(right-left-cuts*cutWidth), float64(left)
	for i := range parts {
		p := &parts[i]
		p.x0 = at
		if at += cutWidth; !p.cut {
			at = p.x0 + room*float64(p.to-p.from)/float64(flowing)
		}
		p.x1 = at
	}
}

// at returns the place of a time.
func (s timeScale) at(t time.Duration) float64 {
	for _, p := range s.parts {
		if t <= p.to {
			return p.x0 + (p.x1-p.x0)*float64(t-p.from)/float64(p.to-p.from)
		}
	}
	return right
}

// cut reports whether a stretch is cut short.
func (s timeScale) cut() bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return p.cut })
}

// podScale maps a number of pods to the vertical.
type podScale struct{ top int }

func newPodScale(samples []simulate.Sample, least int) podScale {
	top := max(least, 1)
	for _, s := range samples {
		top = max(top, s.Total(), s.Wanted)
	}
	return podScale{top}
}

func (s podScale) at(pods int) float64 {
	return plotBottom - float64(plotBottom-plotTop)*float64(pods)/float64(s.top)
}
