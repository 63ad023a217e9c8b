package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Notify reports something to a person who does not look at the terminal.
type Notify uint8

// The ways: none, the bell of the terminal, and a notification on the desktop in one of the
// two sequences that terminals know.
const (
	Silent Notify = iota
	Bell
	OSC9
	OSC777
)

// news notifies of workloads that have failed, or wait for approval, since the world before.
// What is in the first world of a place is on the screen, and no news.
func (n Notify) news(before, now *world.World) tea.Cmd {
	if n == Silent || !before.Loaded || !now.Loaded || before.Where != now.Where {
		return nil
	}
	was := make(map[cluster.Ref]world.Health, len(before.Workloads))
	for _, w := range before.Workloads {
		was[w.Ref] = w.Health
	}
	var news []string
	for _, w := range now.Workloads {
		if old, known := was[w.Ref]; !known || old == w.Health {
			continue
		}
		switch {
		case w.Health == world.Blocked:
			news = append(news, w.String()+" is blocked: "+w.Why)
		case w.Health == world.Paused && w.Steps > 0:
			news = append(news, w.String()+" waits for approval")
		}
	}
	if len(news) == 0 {
		return nil
	}
	return tea.Raw(n.sequence(news))
}

// mostNews is how long the text of a notification gets.
const mostNews = 200

// sequence is what the terminal is sent; the text cannot end it.
func (n Notify) sequence(news []string) string {
	text := news[0]
	if more := len(news) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	text = draw.Cut(strings.ReplaceAll(draw.Clean(text), ";", ","), mostNews, "")
	switch n {
	case OSC9:
		return "\x1b]9;kubectl kruise: " + text + "\x07"
	case OSC777:
		return "\x1b]777;notify;kubectl kruise;" + text + "\x07"
	}
	return "\x07"
}
