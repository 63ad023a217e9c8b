package rollout

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// events are the feed, the newest first.
func (s Screen) events(env screen.Env, r room) []draw.Line {
	if r.height <= 0 {
		return nil
	}
	lines := []draw.Line{heading("EVENTS", "newest first")}
	for _, h := range s.feed[:min(len(s.feed), max(r.height-1, 0))] {
		lines = append(lines, s.event(env, h))
	}
	return draw.Exactly(lines, r.height)
}

func (s Screen) event(env screen.Env, h happening) draw.Line {
	style := theme.Plain
	if h.Warning {
		style = theme.Bad
	}
	l := draw.Text(theme.Faint, fmt.Sprintf(" %4s ", show.Age(env.World.Now, h.At))).Add(style, h.Reason+" ")
	if h.Count > 1 {
		l = l.Add(theme.Strong, fmt.Sprintf("x%d ", h.Count))
	}
	return l.Add(theme.Plain, h.Text).Add(theme.Faint, h.names())
}

// most is how many pods of an event are named.
const most = 3

func (h happening) names() string {
	if len(h.pods) == 0 {
		return ""
	}
	text := "  " + strings.Join(h.pods[:min(len(h.pods), most)], ", ")
	if more := len(h.pods) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
