package pod

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// state is a condition of the pod, or a gate that nobody has set.
type state struct {
	cluster.Condition
	gate, unset bool
}

// conditions are those of the pod, gates first: one that nobody has set keeps the pod
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
	slices.SortStableFunc(out, func(a, b state) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a.Type, b.Type)) })
	return out
}

func rank(s state) int {
	if s.gate {
		return 0
	}
	return 1
}

func (s Screen) conditions(env screen.Env) []draw.Line {
	list := conditions(s.pod)
	lines, width := []draw.Line{heading("CONDITIONS", "gates first")}, 0
	for _, c := range list {
		width = max(width, draw.Width(c.Type))
	}
	for _, c := range list {
		style, text := c.look()
		before := draw.Text(style, "  "+symbol(env.Theme.Symbols, style)+" ").
			Join(draw.Text(theme.Strong, c.Type).Fit(width+1, env.Theme.Symbols.Ellipsis)).
			Add(theme.Plain, fmt.Sprintf("%-8s", c.Status)).
			Add(theme.Faint, fmt.Sprintf("%4s ", show.Age(env.World.Now, c.Since)))
		if c.gate {
			before = before.Add(theme.Key, "gate ")
		}
		lines = append(lines, before.Add(theme.Plain, text))
	}
	return append(lines, draw.Line{})
}

// look is how a condition is, and what is said of it. Conditions that are no gate and
// False are no harm by themselves, but those that every pod has.
func (s state) look() (theme.Style, string) {
	text := s.Reason
	if s.Message != "" {
		text = strings.TrimPrefix(text+": ", ": ") + s.Message
	}
	switch {
	case s.unset:
		return theme.Bad, "not set: counts as False"
	case s.Status == corev1.ConditionTrue:
		return theme.Good, text
	case s.gate || slices.Contains(usual, s.Type):
		return theme.Bad, text
	}
	return theme.Faint, text
}

// usual are conditions that Kubernetes sets on every pod.
var usual = []string{string(corev1.PodScheduled), string(corev1.PodInitialized), string(corev1.ContainersReady), string(corev1.PodReady)}

// events are those of the pod, newest first.
func (s Screen) events(env screen.Env) []draw.Line {
	lines := []draw.Line{heading("EVENTS", "newest first")}
	for _, e := range s.detail.Events {
		if e.Pod == s.pod.Name {
			lines = append(lines, event(env, e)...)
		}
	}
	if len(lines) == 1 {
		lines = append(lines, draw.Text(theme.Faint, "  none"))
	}
	return lines
}

func event(env screen.Env, e world.Event) []draw.Line {
	style := theme.Plain
	if e.Warning {
		style = theme.Bad
	}
	l := draw.Text(theme.Faint, fmt.Sprintf("%4s ", show.Age(env.World.Now, e.At))).Add(style, e.Reason+" ")
	if e.Count > 1 {
		l = l.Add(theme.Strong, fmt.Sprintf("x%d ", e.Count))
	}
	return wrapped(env, l, theme.Plain, e.Text)
}
