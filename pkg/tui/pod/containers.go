package pod

import (
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// member is a container and what it is in the pod.
type member struct {
	cluster.Container
	// from is the SidecarSet that it comes from, or that it is an init container.
	from string
	// before is for those that run before the others, and end.
	before bool
}

// members are the containers of a pod: those that go on first, then those that run
// before them.
func members(p *cluster.Pod) []member {
	sets := map[string]string{}
	for _, in := range injected(p) {
		for _, c := range in.containers {
			sets[c] = "sidecarset/" + in.set
		}
	}
	var out, early []member
	for _, c := range p.Containers {
		out = append(out, member{Container: c, from: sets[c.Name]})
	}
	for _, c := range p.InitContainers {
		from := "init"
		if c.Native {
			from = "native sidecar"
		}
		if sets[c.Name] != "" {
			from += ", " + sets[c.Name]
		}
		early = append(early, member{c, from, !c.Native})
	}
	return slices.Concat(out, early)
}

// table are the containers; it has a header line before them.
func (s Screen) table(env screen.Env) []draw.Line {
	t := draw.Table{Columns: s.columns(env), Rows: len(s.containers), Window: draw.Window{At: s.at}}
	return t.Draw(env.Theme, env.Width-2, len(s.containers)+1, func(i int) ([]draw.Line, bool) {
		return s.row(env, s.containers[i]), s.marked[s.containers[i].Name]
	})
}

func (s Screen) columns(env screen.Env) []draw.Column {
	var name, state, image, id, from int
	for _, m := range s.containers {
		word, _ := screen.Container(env.World.Now, s.pod, m.Container)
		name, state, image = max(name, draw.Width(m.Name)), max(state, draw.Width(word)+2), max(image, draw.Width(short(env, m.Image)))
		id, from = max(id, draw.Width(draw.Digest(m.ImageID))), max(from, draw.Width(m.from))
	}
	return []draw.Column{
		{Title: "CONTAINER", Width: max(name, 9), Min: 9, Keep: true, Give: 1},
		{Title: "STATE", Width: max(state, 20), Min: 18, Keep: true, Give: 2},
		{Title: "RESTARTS", Width: 8, Right: true, Give: 5},
		{Title: "IMAGE", Width: max(image, 5), Min: 12, Keep: true, Give: 6},
		{Title: "IMAGE ID", Width: max(id, 8), Give: 7},
		{Title: "FROM", Width: max(from, 4), Min: 4, Give: 4},
	}
}

// wide is from how many columns on images are shown with their registry.
const wide = 140

// short is an image without what is the same for most of them.
func short(env screen.Env, image string) string {
	if env.Width >= wide {
		return image
	}
	return draw.Image(image)
}

func (s Screen) row(env screen.Env, m member) []draw.Line {
	word, style := screen.Container(env.World.Now, s.pod, m.Container)
	if m.before && m.Reported && m.Waiting == "" && m.Ready {
		word, style = "has run", draw.Faint
	}
	return []draw.Line{
		draw.Text(draw.Strong, m.Name),
		draw.Text(style, symbol(env.Theme.Symbols, style)+" "+word),
		draw.Text(draw.Plain, strconv.Itoa(m.Restarts)),
		draw.Text(draw.Plain, short(env, m.Image)),
		draw.Text(draw.Faint, draw.Digest(m.ImageID)),
		draw.Text(draw.Faint, m.from),
	}
}

// symbol says without colour what a style says with it.
func symbol(s draw.Symbols, style draw.Style) string {
	switch style {
	case draw.Good:
		return s.Healthy
	case draw.Busy:
		return s.Busy
	case draw.Bad:
		return s.Blocked
	case draw.Warn:
		return s.Degraded
	}
	return s.Dot
}

// troubles are what the node reports about containers, and how they ended.
func (s Screen) troubles(env screen.Env) []draw.Line {
	var lines []draw.Line
	for _, m := range s.containers {
		text := m.Message
		if m.Ended != "" {
			if text != "" {
				text += "; "
			}
			text += "failed last: " + m.Ended
		}
		if text != "" {
			lines = append(lines, wrapped(env, draw.Text(draw.Strong, m.Name+" "), draw.Plain, text)...)
		}
	}
	return lines
}
