package sidecars

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// about is the set of the cursor on the workload of the cursor: the numbers, why the
// set waits, what cannot be upgraded, and where hot upgrades stand.
func (s Screen) about(env screen.Env) []draw.Line {
	set, cell := s.current(), s.cell()
	lines := []draw.Line{s.title(set).Fit(env.Width, env.Theme.Symbols.Ellipsis)}
	if cell == nil {
		return append(lines, draw.Text(theme.Faint, "  it matches no pod of "+name(s.at)))
	}
	lines = append(lines, numbers(env, cell))
	if w := env.World.Find(s.setRef()); w != nil {
		lines = append(lines, draw.Text(show.HealthStyle(w.Health), "  "+show.HealthSymbol(env.Theme, w.Health)+" ").Add(theme.Plain, w.Why))
	}
	for _, h := range merged(cell.Held) {
		lines = append(lines, draw.Text(theme.Warn, "  "+env.Theme.Symbols.Degraded+" "+diagnose.Names(h.Pods)+": ").Add(theme.Plain, h.Why))
	}
	for _, pod := range slices.Sorted(maps.Keys(cell.Upgrading)) {
		lines = append(lines, draw.Text(theme.Busy, "  "+env.Theme.Symbols.Busy+" "+pod+": ").Add(theme.Plain, cell.Upgrading[pod]))
	}
	room := below(env)
	if whole := wrapped(lines, env.Width); len(whole) <= room {
		return whole
	}
	if len(lines) <= room {
		return lines
	}
	return append(lines[:room-1:room-1], draw.Text(theme.Faint, fmt.Sprintf("    and %d more", len(lines)-room+1)))
}

// wrapped breaks what is too long for one line.
func wrapped(lines []draw.Line, width int) []draw.Line {
	var out []draw.Line
	for _, l := range lines {
		if l.Width() <= width {
			out = append(out, l)
			continue
		}
		first := l.Spans[0]
		text := strings.TrimPrefix(l.String(), first.Text)
		for i, part := range draw.Wrap(theme.Plain, text, max(width-draw.Width(first.Text)-1, 10)) {
			if i == 0 {
				out = append(out, draw.Of(first).Join(part))
				continue
			}
			out = append(out, draw.Text(theme.Plain, "    ").Join(part))
		}
	}
	return out
}

// merged puts pods that are held for one reason together: those of all workloads come
// apart.
func merged(list []world.Held) []world.Held {
	var out []world.Held
	for _, h := range list {
		i := slices.IndexFunc(out, func(o world.Held) bool { return o.Why == h.Why })
		if i < 0 {
			out = append(out, world.Held{Why: h.Why, Pods: slices.Clone(h.Pods)})
			continue
		}
		out[i].Pods = append(out[i].Pods, h.Pods...)
	}
	return out
}

// title is the set: its containers, and what its strategy says.
func (s Screen) title(set *world.SidecarSet) draw.Line {
	l := draw.Text(theme.Header, " "+set.Name).Add(theme.Faint, " on "+name(s.at)+" ")
	for _, c := range set.Containers {
		l = l.Add(theme.Plain, " "+c.Name+" ").Add(theme.Faint, show.Image(c.Image))
		if c.Hot {
			l = l.Add(theme.Busy, " hot")
		}
	}
	switch {
	case set.Frozen:
		l = l.Add(theme.Warn, "  only new pods get it (NotUpdate)")
	case set.Paused:
		l = l.Add(theme.Warn, "  paused in its spec")
	}
	if set.Partition != "" && set.Partition != "0" {
		l = l.Add(theme.Plain, "  partition "+set.Partition)
	}
	if set.Revision != "" {
		l = l.Add(theme.Faint, "  "+set.Revision)
	}
	return l
}

func numbers(env screen.Env, c *world.SidecarCell) draw.Line {
	t := plan.Tally{Desired: c.Matched, Total: c.Matched, Ready: c.Ready, Updated: c.Updated, UpdatedReady: c.UpdatedReady}
	l := draw.Text(theme.Plain, "  ").Join(show.Pods(env.Theme.Symbols, t, 0, min(max(env.Width/4, 10), 40)))
	l = l.Add(theme.Plain, fmt.Sprintf("  %d matched, %d updated, %d ready", c.Matched, c.Updated, c.Ready))
	if n := heldPods(c.Held); n > 0 {
		l = l.Add(theme.Warn, fmt.Sprintf(", %d not upgradable", n))
	}
	return l
}
