package rollout

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// pods are the grid, and below it the pod of the cursor and those that are not ready,
// with each of their containers.
func (s Screen) pods(env screen.Env, a arrangement) []draw.Line {
	if a.grid.height <= 0 {
		return nil
	}
	more := "by " + s.by.String()
	if n := len(s.marked); n > 0 {
		more += fmt.Sprintf(", %d marked", n)
	}
	lines := []draw.Line{heading("PODS", more)}
	room := a.grid.height - 1
	if a.grid.height > 6 {
		lines = append(lines, draw.Text(theme.Plain, " ").Join(legend(env.Theme.Symbols)))
		room--
	}
	lines = append(lines, s.grid.draw(env.Theme, s.at, s.marked, room)...)
	return draw.Exactly(append(append(lines, draw.Line{}), s.closer(env)...), a.grid.height+a.moving)
}

// closer are the pod of the cursor, and then those that are not ready.
func (s Screen) closer(env screen.Env) []draw.Line {
	var lines []draw.Line
	if p := s.grid.find(s.at); p != nil {
		lines = append(lines, s.pod(env, p, env.Theme.Symbols.Cursor))
	}
	for _, p := range s.moving {
		if p.UID != s.at {
			lines = append(lines, s.pod(env, p, " "))
		}
	}
	return lines
}

func (s Screen) pod(env screen.Env, p *cluster.Pod, pointer string) draw.Line {
	text, style := look(s.detail, p).picture(env.Theme.Symbols)
	l := draw.Text(theme.Title, " "+pointer+" ").Add(style, text+" ").Add(theme.Strong, p.Name).Add(theme.Faint, "  "+p.Node)
	for _, c := range p.Containers {
		word, style := show.Container(env.World.Now, p, c)
		l = l.Add(theme.Plain, "  "+c.Name+" ").Add(theme.Faint, show.Tag(c.Image)+" ").Add(style, word)
	}
	return l
}
