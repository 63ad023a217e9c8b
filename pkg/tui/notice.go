package tui

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// said is what was said last, and since when by the time in the cluster.
type said struct {
	notice screen.Say
	since  time.Time
}

// briefly and longer are for how long a notice is shown: somebody may have left the
// terminal open for the night, and the keys shall be there in the morning.
const (
	briefly = 20 * time.Second
	longer  = 5 * time.Minute
)

// fade takes a notice away that everybody has seen.
func (m Model) fade() Model {
	now := m.env.World.Now
	if m.notice != m.said.notice {
		m.said = said{m.notice, now}
	}
	limit := briefly
	if m.notice.Bad {
		limit = longer
	}
	if now.Sub(m.said.since) > limit {
		m.notice = screen.Say{}
	}
	return m
}
