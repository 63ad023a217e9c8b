// Package pod is the screen of one pod: its containers, what is done to it in place,
// the sidecars in it, its conditions, and what happened to it.
package pod

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is one pod.
type Screen struct {
	ref  cluster.Ref
	name string

	detail *world.Detail
	pod    *cluster.Pod
	// answer is why the pod is as it is.
	answer diagnose.Diagnosis

	// containers are those of the pod, in the order of the screen; at is the one of the
	// cursor, marked are those that acts are about.
	containers []member
	at         int
	marked     map[string]bool

	// lines are the whole page, first is that of the first container, top the first one
	// that is seen.
	lines      []draw.Line
	first, top int
	// find is what is searched for on the page.
	find string
}

// New is the screen of the pod that is opened.
func New(o screen.Open) Screen {
	return Screen{ref: o.Ref, name: o.Pod, marked: map[string]bool{}}
}

// Title is the pod's name.
func (s Screen) Title() string { return "pod/" + world.PodRef(s.ref, s.name).Name }

// Want is the workload with its pods.
func (s Screen) Want() world.Want { return world.Want{Workload: s.ref} }

// Filtered is what is searched for.
func (s Screen) Filtered() string { return s.find }

// Selection is the pod and of its containers those that are marked, else the one of the
// cursor.
func (s Screen) Selection(screen.Env) screen.Selection {
	if s.pod == nil {
		return screen.Selection{}
	}
	sel := screen.Selection{Workloads: []cluster.Ref{s.ref}, Pods: []string{s.pod.Name}}
	for _, m := range s.containers {
		if s.marked[m.Name] {
			sel.Containers = append(sel.Containers, m.Name)
		}
	}
	if c := s.container(); len(sel.Containers) == 0 && c != "" {
		sel.Containers = []string{c}
	}
	return sel
}

// container is the one of the cursor.
func (s Screen) container() string {
	if s.at < len(s.containers) {
		return s.containers[s.at].Name
	}
	return ""
}

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env), nil
	case screen.Filter:
		return s.search(env, msg.Text), nil
	case screen.Wheel:
		return s.scroll(env, msg.By), nil
	case screen.Click:
		return s.click(env, msg)
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

// refresh works out the page, when the world or the room has changed.
func (s Screen) refresh(env screen.Env) Screen {
	d := env.World.Of(s.ref)
	if d != s.detail {
		s = s.look(d)
	}
	if s.pod != nil {
		s = s.compose(env)
	}
	return s
}

// look takes the pod from the workload, and asks why it is as it is.
func (s Screen) look(d *world.Detail) Screen {
	s.detail, s.pod = d, nil
	if d == nil {
		return s
	}
	if s.pod = d.Pod(s.name); s.pod == nil {
		return s
	}
	s.answer = diagnose.Pod(d.Question, s.pod.Name)
	begun := len(s.containers) > 0
	s.containers = members(s.pod)
	s.at = min(s.at, max(len(s.containers)-1, 0))
	if c, ok := diagnose.Troubled(s.pod); ok && !begun {
		s.at = slices.IndexFunc(s.containers, func(m member) bool { return m.Name == c.Name })
	}
	return s
}

func (s Screen) mark(env screen.Env) Screen {
	s.marked = maps.Clone(s.marked)
	if c := s.container(); s.marked[c] {
		delete(s.marked, c)
	} else if c != "" {
		s.marked[c] = true
	}
	return s.move(env, 1)
}

// move takes the cursor to another container, and on from the last one down the page.
func (s Screen) move(env screen.Env, by int) Screen {
	to := s.at + by
	if to < 0 || to >= len(s.containers) || by < 0 && s.top > s.first+s.at {
		return s.scroll(env, by)
	}
	s.at = to
	s = s.compose(env)
	s.top = min(s.top, s.first+s.at)
	if last := s.first + s.at - env.Height + 2; s.top < last {
		s.top = last
	}
	return s.scroll(env, 0)
}

func (s Screen) scroll(env screen.Env, by int) Screen {
	s.top = max(min(s.top+by, len(s.lines)-env.Height), 0)
	return s
}
