// Package rollout is the screen of one workload: the steps of its rollout, its pods,
// what it waits for, and what happens.
package rollout

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is one workload.
type Screen struct {
	ref    cluster.Ref
	detail *world.Detail

	grid  grid
	table podTable
	feed  []happening

	by     grouping
	panel  panel
	filter string
	order  order
	// sorted is what the table was worked out with.
	sorted sorting
	// at is the UID of the pod of the cursor, marked are those that acts are about.
	at     string
	marked map[string]bool
}

// sorting is what a table of pods depends on, besides the pods.
type sorting struct {
	filter string
	order  order
}

// New is the screen of the workload that is opened.
func New(o screen.Open) Screen { return Screen{ref: o.Ref, marked: map[string]bool{}} }

// Title is the workload's name.
func (s Screen) Title() string { return show.Name(s.ref) }

// Want is the workload with its pods.
func (s Screen) Want() world.Want { return world.Want{Workload: s.ref} }

// Filtered is the filter of the pods.
func (s Screen) Filtered() string { return s.filter }

// Selection is the workload and of its pods those that are marked, else the one of the
// cursor.
func (s Screen) Selection(screen.Env) screen.Selection {
	sel := screen.Selection{Workloads: []cluster.Ref{s.ref}}
	for _, p := range s.grid.pods {
		if s.marked[p.UID] {
			sel.Pods = append(sel.Pods, p.Name)
		}
	}
	if p := s.grid.find(s.at); p != nil && len(sel.Pods) == 0 {
		sel.Pods = []string{p.Name}
	}
	slices.Sort(sel.Pods)
	return sel
}

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env).forget()
	case screen.Filter:
		s.filter = msg.Text
		return s.refresh(env), nil
	case screen.Order:
		return s.ordered(env, msg), nil
	case screen.Wheel:
		return s.move(s.table.step(s.at, msg.By)), nil
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	if w, ok := (draw.Window{At: s.table.place[s.at]}).Key(key, len(s.table.rows), s.page(env)); ok {
		return s.move(s.table.step(s.at, w.At-s.table.place[s.at])), nil
	}
	switch {
	case left.Is(key):
		return s.move(s.grid.beside(s.at, -1)), nil
	case right.Is(key):
		return s.move(s.grid.beside(s.at, 1)), nil
	case group.Is(key):
		s.by = s.by.next(s.detail)
		return s.refresh(env), nil
	case sortBy.Is(key):
		s.order = s.order.next()
		return s.refresh(env), nil
	case reverse.Is(key):
		s.order.turned = !s.order.turned
		return s.refresh(env), nil
	case more.Is(key):
		s.panel = s.panel.shown(env).next(env)
		return s.refresh(env), nil
	case mark.Is(key):
		return s.mark(), nil
	case open.Is(key):
		return s, s.open()
	}
	return s, s.elsewhere(key)
}

func (s Screen) move(uid string) Screen {
	if uid != "" {
		s.at = uid
	}
	return s
}

func (s Screen) mark() Screen {
	s.marked = maps.Clone(s.marked)
	if s.marked[s.at] {
		delete(s.marked, s.at)
	} else if s.at != "" {
		s.marked[s.at] = true
	}
	return s.move(s.table.step(s.at, 1))
}

// page is how many rows of the table are seen.
func (s Screen) page(env screen.Env) int {
	if s.detail == nil {
		return 1
	}
	return max(s.arrange(env, env.Height-len(s.head(env))).table.height-1, 1)
}

func (s Screen) open() screen.After {
	return s.ofPod(screen.Open{Screen: screen.Pod})
}

// ofPod opens a screen of the pod of the cursor.
func (s Screen) ofPod(o screen.Open) screen.After {
	p := s.grid.find(s.at)
	if p == nil {
		return nil
	}
	o.Ref, o.Pod = s.ref, world.PodName(s.ref, p)
	return screen.Send(o)
}

// shell is in the pod of the cursor, in its first container.
func (s Screen) shell() screen.After {
	p := s.grid.find(s.at)
	if p == nil || len(p.Containers) == 0 {
		return nil
	}
	return screen.Send(screen.Shell{Namespace: p.Namespace, Pod: p.Name, Container: p.Containers[0].Name})
}

// elsewhere opens another screen of the same workload, or of the pod of the cursor.
func (s Screen) elsewhere(key string) screen.After {
	switch {
	case logs.Is(key):
		return s.ofPod(screen.Open{Screen: screen.Logs})
	case shell.Is(key):
		return s.shell()
	}
	for _, to := range doors {
		if to.Is(key) {
			return screen.Send(screen.Open{Screen: to.screen, Ref: s.ref, Text: to.text})
		}
	}
	return nil
}
