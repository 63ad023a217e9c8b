package pod

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// states are the lifecycle of the pod, what is announced, and its last update in place.
func (s Screen) states(env screen.Env) []draw.Line {
	lines := []draw.Line{heading("UPDATE", ""), s.lifecycle(env)}
	if l, ok := s.announced(env); ok {
		lines = append(lines, l)
	}
	lines = append(lines, s.inPlace(env)...)
	return append(lines, draw.Line{})
}

func (s Screen) lifecycle(env screen.Env) draw.Line {
	state := rules.StateOf(s.pod)
	l := label("lifecycle")
	if state == rules.StateNone {
		return l.Add(theme.Faint, "no state")
	}
	style := theme.Busy
	if state == rules.StateNormal {
		style = theme.Good
	}
	l = l.Add(style, symbol(env.Theme.Symbols, style)+" "+string(state))
	if at, err := time.Parse(time.RFC3339, s.pod.Annotations[kruise.LifecycleTimestampAnnotation]); err == nil {
		l = l.Add(theme.Faint, " for "+show.Age(env.World.Now, at))
	}
	return l
}

// announced is a change in place that waits for the grace period.
func (s Screen) announced(env screen.Env) (draw.Line, bool) {
	g, ok := rules.InPlaceGraceOf(s.pod)
	if !ok {
		return draw.Line{}, false
	}
	text := " announced: " + imagesText(g.ContainerImages)
	if due, ok := rules.GraceEnds(s.pod); ok && due.After(env.World.Now) {
		text += ", in " + show.Age(due, env.World.Now)
	}
	return label("in place").Add(theme.Busy, env.Theme.Symbols.Busy+text), true
}

// inPlace is the last update in place, container by container.
func (s Screen) inPlace(env screen.Env) []draw.Line {
	r, ok := rules.InPlaceRecordOf(s.pod)
	if !ok {
		return []draw.Line{label("in place").Add(theme.Faint, "never updated in place")}
	}
	l := label("in place").Add(theme.Plain, "to "+r.Revision).Add(theme.Faint, " "+show.Age(env.World.Now, r.UpdateTimestamp)+" ago")
	lines := []draw.Line{l}
	for _, name := range slices.Sorted(maps.Keys(r.LastContainerStatuses)) {
		lines = append(lines, s.progress(env, name, r.LastContainerStatuses[name].ImageID))
	}
	if r.HasNext() {
		text := imagesText(r.NextContainerImages)
		if c := r.PreCheckBeforeNext; c != nil && len(c.ContainersRequiredReady) > 0 {
			text += ", once " + strings.Join(c.ContainersRequiredReady, ", ") + " is ready"
		}
		lines = append(lines, label("").Add(theme.Busy, env.Theme.Symbols.Next+" next: "+text))
	}
	return lines
}

// progress is how far a container is that was given another image: another image ID
// than before is what Kruise waits for (docs/kruise/workloads.md#steps-on-the-pod).
func (s Screen) progress(env screen.Env, name, before string) draw.Line {
	c, _ := s.pod.Container(name)
	l := label("")
	switch {
	case c.ImageID == before && c.StatusImage != c.Image:
		return l.Add(theme.Busy, env.Theme.Symbols.Busy+" "+name+" still runs what it ran before")
	case !c.Ready:
		return l.Add(theme.Busy, env.Theme.Symbols.Busy+" "+name+" runs the new image, and is not ready")
	}
	return l.Add(theme.Good, env.Theme.Symbols.Done+" "+name+" runs the new image")
}

// imagesText is which containers get which image.
func imagesText(images map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(images)) {
		list = append(list, name+" gets "+show.Tag(images[name]))
	}
	return cmp.Or(strings.Join(list, ", "), "metadata or resources")
}

// label is the name of a line of facts.
func label(text string) draw.Line {
	return draw.Text(theme.Faint, "  ").Join(draw.Text(theme.Faint, text).Fit(11, ""))
}
