package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// events are the feed, newest first: whole while there is room for all, else one line each.
func (s Screen) events(env screen.Env, r room) []draw.Line {
	left := r.height - 1
	spare := max(left-len(s.feed), 0)
	var lines []draw.Line
	for _, h := range s.feed[:min(len(s.feed), max(left, 0))] {
		whole := h.lines(env.World.Now, r.width)
		if n := len(whole) - 1; n > 0 && n <= spare {
			spare -= n
			lines = append(lines, whole...)
			continue
		}
		lines = append(lines, h.line(env.World.Now))
	}
	if len(s.feed) == 0 {
		return r.heading("EVENTS", "none", nil)
	}
	return r.heading("EVENTS", "newest first", lines)
}

// mostWhole is how many events are measured: more have no room anyway.
const mostWhole = 60

// lines is the event, wrapped.
func (h eventGroup) lines(now time.Time, width int) []draw.Line {
	one := h.line(now)
	if one.Width() <= width {
		return []draw.Line{one}
	}
	head := h.head(now)
	if head.Width() > width/2 {
		return []draw.Line{one}
	}
	return draw.Hang(head, draw.Plain, h.Text+h.names(), width-head.Width())
}

func (h eventGroup) line(now time.Time) draw.Line {
	return h.head(now).Add(draw.Plain, h.Text).Add(draw.Faint, h.names())
}

func (h eventGroup) head(now time.Time) draw.Line {
	l := screen.Event(now, h.Event)
	l.Spans[0].Text = " " + l.Spans[0].Text
	return l
}

// most is how many pods of an event are named.
const most = 3

func (h eventGroup) names() string {
	if len(h.pods) == 0 {
		return ""
	}
	text := "  " + strings.Join(h.pods[:min(len(h.pods), most)], ", ")
	if more := len(h.pods) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// eventGroup is an event of one or several pods.
type eventGroup struct {
	world.Event
	pods []string
}

// span is how far apart events can be that are shown as one.
const span = time.Minute

// clustered merges events with the same text about several pods within a minute; the order,
// newest first, is kept.
func clustered(events []world.Event) []eventGroup {
	var out []eventGroup
	last := map[[2]string]int{}
	for _, e := range events {
		key := [2]string{e.Reason, e.Text}
		i, ok := last[key]
		if ok && e.Pod != "" && len(out[i].pods) > 0 && out[i].At.Sub(e.At) < span {
			out[i].Count += e.Count
			if !slices.Contains(out[i].pods, e.Pod) {
				out[i].pods = append(out[i].pods, e.Pod)
			}
			continue
		}
		last[key] = len(out)
		h := eventGroup{Event: e}
		if e.Pod != "" {
			h.pods = []string{e.Pod}
		}
		out = append(out, h)
	}
	return out
}
