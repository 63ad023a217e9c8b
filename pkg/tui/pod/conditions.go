package pod

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// state is a condition of the pod, or a readiness gate that is not set.
type state struct {
	cluster.Condition
	gate, unset bool
}

// conditions are those of the pod, gates first: one that is not set keeps the pod
// from being ready as one that is False does.
func conditions(p *cluster.Pod) []state {
	var out []state
	for _, gate := range p.ReadinessGates {
		if _, ok := p.Condition(gate); !ok {
			out = append(out, state{Condition: cluster.Condition{Type: gate}, gate: true, unset: true})
		}
	}
	for _, c := range p.Conditions {
		out = append(out, state{Condition: c, gate: slices.Contains(p.ReadinessGates, c.Type)})
	}
	slices.SortStableFunc(out, func(a, b state) int {
		switch {
		case a.gate == b.gate:
			return strings.Compare(a.Type, b.Type)
		case a.gate:
			return -1
		}
		return 1
	})
	return out
}

func (s Screen) conditions(env screen.Env) []draw.Line {
	list := conditions(s.pod)
	lines, width := []draw.Line{draw.Heading("CONDITIONS", "gates first")}, 0
	for _, c := range list {
		width = max(width, draw.Width(c.Type))
	}
	for _, c := range list {
		style, text := c.mark()
		before := draw.Text(style, "  "+symbol(env.Theme.Symbols, style)+" ").
			Join(draw.Text(draw.Strong, c.Type).Fit(width+1, env.Theme.Symbols.Ellipsis)).
			Add(draw.Plain, fmt.Sprintf("%-8s", c.Status)).
			Add(draw.Faint, fmt.Sprintf("%4s ", screen.Age(env.World.Now, c.Since)))
		if c.gate {
			before = before.Add(draw.Key, "gate ")
		}
		lines = append(lines, before.Add(draw.Plain, text))
	}
	return append(lines, draw.Line{})
}

// mark is how a condition is, and the text about it. Conditions that are no gate and
// False are no harm by themselves, but those that every pod has.
func (s state) mark() (draw.Style, string) {
	text := s.Reason
	if s.Message != "" {
		text = strings.TrimPrefix(text+": ", ": ") + s.Message
	}
	switch {
	case s.unset:
		return draw.Bad, "not set: counts as False"
	case s.Status == corev1.ConditionTrue:
		return draw.Good, text
	case s.gate || slices.Contains(usual, s.Type):
		return draw.Bad, text
	}
	return draw.Faint, text
}

// usual are conditions that Kubernetes sets on every pod.
var usual = []string{string(corev1.PodScheduled), string(corev1.PodInitialized), string(corev1.ContainersReady), string(corev1.PodReady)}

// events are those of the pod, newest first.
func (s Screen) events(env screen.Env) []draw.Line {
	lines := []draw.Line{draw.Heading("EVENTS", "newest first")}
	for _, e := range s.detail.Events {
		if e.Pod == s.pod.Name {
			lines = append(lines, wrapped(env, screen.Event(env.World.Now, e), draw.Plain, e.Text)...)
		}
	}
	if len(lines) == 1 {
		lines = append(lines, draw.Text(draw.Faint, "  none"))
	}
	return lines
}

// states are the lifecycle of the pod, a change in place that waits for the grace period, and the last update in place,
// container by container.
func (s Screen) states(env screen.Env) []draw.Line {
	y, now := env.Theme.Symbols, env.World.Now
	life := label("lifecycle")
	if state := rules.StateOf(s.pod); state == rules.StateNone {
		life = life.Add(draw.Faint, "no state")
	} else {
		style := draw.Busy
		if state == rules.StateNormal {
			style = draw.Good
		}
		life = life.Add(style, symbol(y, style)+" "+string(state))
		if at, err := time.Parse(time.RFC3339, s.pod.Annotations[kruise.LifecycleTimestampAnnotation]); err == nil {
			life = life.Add(draw.Faint, " for "+screen.Age(now, at))
		}
	}
	lines := []draw.Line{draw.Heading("UPDATE", ""), life}
	if g, ok := rules.InPlaceGraceOf(s.pod); ok {
		text := " announced: " + imagesText(g.ContainerImages)
		if due, ok := rules.GraceEnds(s.pod); ok && due.After(now) {
			text += ", in " + screen.Age(due, now)
		}
		lines = append(lines, label("in place").Add(draw.Busy, y.Busy+text))
	}
	r, ok := rules.InPlaceRecordOf(s.pod)
	if !ok {
		return append(lines, label("in place").Add(draw.Faint, "never updated in place"), draw.Line{})
	}
	lines = append(lines, label("in place").Add(draw.Plain, "to "+r.Revision).Add(draw.Faint, " "+screen.Age(now, r.UpdateTimestamp)+" ago"))
	for _, name := range slices.Sorted(maps.Keys(r.LastContainerStatuses)) {
		lines = append(lines, s.progress(env, name, r.LastContainerStatuses[name].ImageID))
	}
	if r.HasNext() {
		text := imagesText(r.NextContainerImages)
		if c := r.PreCheckBeforeNext; c != nil && len(c.ContainersRequiredReady) > 0 {
			text += ", once " + strings.Join(c.ContainersRequiredReady, ", ") + " is ready"
		}
		lines = append(lines, label("").Add(draw.Busy, y.Next+" next: "+text))
	}
	return append(lines, draw.Line{})
}

// progress is how far a container is that was given another image: another image ID
// than before is what Kruise waits for (docs/kruise/workloads.md#steps-on-the-pod).
func (s Screen) progress(env screen.Env, name, before string) draw.Line {
	c, _ := s.pod.Container(name)
	l := label("")
	switch {
	case c.ImageID == before && c.StatusImage != c.Image:
		return l.Add(draw.Busy, env.Theme.Symbols.Busy+" "+name+" still runs what it ran before")
	case !c.Ready:
		return l.Add(draw.Busy, env.Theme.Symbols.Busy+" "+name+" runs the new image, and is not ready")
	}
	return l.Add(draw.Good, env.Theme.Symbols.Done+" "+name+" runs the new image")
}

// imagesText is which containers get which image.
func imagesText(images map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(images)) {
		list = append(list, name+" gets "+draw.Tag(images[name]))
	}
	return cmp.Or(strings.Join(list, ", "), "metadata or resources")
}

// label is the name of a line of facts.
func label(text string) draw.Line {
	return draw.Text(draw.Faint, "  ").Join(draw.Text(draw.Faint, text).Fit(11, ""))
}
