package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// rungs are the steps, those around the present one where there is no room for all.
func (l *RolloutLive) rungs(now time.Time, room int) []string {
	steps := l.plan.Steps
	from, to := window(len(steps), l.at, room)
	var out []string
	if from > 0 {
		out = append(out, fmt.Sprintf("  ... %s before", plural(from, "step")))
	}
	for i := from; i < to; i++ {
		out = append(out, l.rung(now, i))
	}
	if to < len(steps) {
		out = append(out, fmt.Sprintf("  ... %s more", plural(len(steps)-to, "step")))
	}
	return out
}

// window is the part of n lines that fits, with at inside and a line of room for each
// end that is cut off.
func window(n, at, room int) (from, to int) {
	if n <= room {
		return 0, n
	}
	shown := max(room-2, 1)
	from = max(0, min(at-shown/2, n-shown))
	return from, from + shown
}

func (l *RolloutLive) rung(now time.Time, i int) string {
	s := l.plan.Steps[i]
	text := fmt.Sprintf("%d %s: %s", i+1, s.Name, s.Title)
	if begun, ok := l.stepBegun[i]; ok {
		end, over := l.stepEnded[i]
		if !over {
			end = now
		}
		text += "  " + svg.Span(end.Sub(begun))
	}
	return "  " + l.Style.step(l.standing(i), text)
}

func (l *RolloutLive) standing(i int) standing {
	completed := l.ended != nil && (l.ended.Outcome == event.Completed || l.ended.Outcome == event.RolledBack)
	switch {
	case i < l.at || completed:
		return stepOver
	case i > l.at:
		return stepNext
	case l.state == event.Halted || l.ended != nil && l.ended.Outcome == event.Failed:
		return stepFailed
	case l.state == event.Paused:
		return stepPaused
	}
	return stepNow
}

// cutTo cuts a line to so many characters, escapes not counted; none or fewer leave
// it whole.
func cutTo(s string, width int) string {
	if width <= 0 || Columns(s) <= width {
		return s
	}
	var b strings.Builder
	n, escape, painted := 0, false, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape, painted = true, true
		case n == width-1:
			b.WriteString("~")
			if painted {
				b.WriteString("\x1b[0m")
			}
			return b.String()
		default:
			n++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Columns is how many characters a line takes on a terminal, colours not counted.
func Columns(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape = true
		default:
			n++
		}
	}
	return n
}
