package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// leaveDialog asks before the program is left that runs rollouts.
type leaveDialog struct{ pause }

func (l leaveDialog) rest(m Model) (Model, tea.Cmd) {
	l.pause = l.begin()
	m.over = l
	return m, m.options.After(moment, l.end())
}

func (l leaveDialog) heard(e pauseEnd) overlay {
	l.pause = l.after(e)
	return l
}

func (l leaveDialog) key(m Model, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch name := k.String(); {
	case name == "ctrl+c":
		m.next = ""
		return m, tea.Quit
	case name == "/":
		return m.closed().filter(), nil
	case name == "esc":
		return m.closed(), nil
	case l.calm && isYes(name):
		return m, tea.Quit
	default:
		l.ignored = ignoredKey{name, l.calm || !isYes(name)}
	}
	return l.rest(m)
}

func (l leaveDialog) body(m Model, under []draw.Line) []draw.Line {
	driving, width := m.env.World.Running, draw.BoxWidth(m.env.Width)
	if len(driving) == 0 { // they have ended meanwhile
		lines := draw.Wrap(draw.Plain, "The rollouts that this program was running have ended. Leave now?", width)
		return question{"leave", append(lines, draw.Line{}), yesOrNo(l.calm), 0}.draw(m, under)
	}
	lines := draw.Wrap(draw.Strong, fmt.Sprintf("Leave while %s in progress?", counted.With(len(driving), "rollout is", "rollouts are")), width)
	text := fmt.Sprintf("This program runs %s. After you leave, pods stay as they are until the rollout is resumed, from any machine, with '%s'.", names(driving), m.env.Hint("kubectl kruise rollout resume "+driving[0].String()+flags(m.env.World.Where, driving[0].Namespace)))
	lines = append(lines, draw.Wrap(draw.Plain, text, width)...)
	return question{"leave", append(lines, draw.Line{}), yesOrNo(l.calm), 0}.draw(m, under)
}

// flags are those that name the place on a command line. A process in the cluster has no context
// that its user could pass on.
func flags(where world.Where, namespace string) string {
	text := ""
	if namespace != "" {
		text += " -n " + namespace
	}
	if c := where.Context; c != "" && !where.InCluster {
		text += " --context " + c
	}
	return text
}

func (l leaveDialog) foot(Model) (draw.Line, bool) {
	if l.ignored.key != "" {
		return l.ignored.line("y leaves, esc stays"), true
	}
	return draw.Text(draw.Faint, " esc cancel"), true
}
