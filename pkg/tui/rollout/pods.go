package rollout

import (
	"fmt"
	"strings"

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
		word, style := container(env, p, c)
		l = l.Add(theme.Plain, "  "+c.Name+" ").Add(theme.Faint, tag(c.Image)+" ").Add(style, word)
	}
	return l
}

// container is how far a container is: what waits, what was asked of it and does not
// run yet, or that it is ready and since when.
func container(env screen.Env, p *cluster.Pod, c cluster.Container) (string, theme.Style) {
	restarts := ""
	if c.Restarts > 0 {
		restarts = fmt.Sprintf(", %d restarts", c.Restarts)
	}
	switch {
	case p.Deleting:
		return "ends", theme.Faint
	case c.Waiting == "ContainerCreating":
		return "starts" + restarts, theme.Busy
	case c.Waiting != "":
		return c.Waiting + restarts, theme.Bad
	case !c.Reported:
		return "is not there yet", theme.Busy
	case c.StatusImage != "" && c.StatusImage != c.Image:
		return "still runs " + tag(c.StatusImage), theme.Busy
	case !c.Ready:
		return "runs, not ready" + restarts, theme.Busy
	}
	return "ready " + show.Age(env.World.Now, p.ReadySince()) + restarts, theme.Good
}

// tag is what tells images of one repository apart.
func tag(image string) string {
	if _, digest, ok := strings.Cut(image, "@sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok {
		return tag
	}
	return name
}
