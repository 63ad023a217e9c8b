// Package rollout is the screen of one workload: the steps of its rollout, its pods,
// what it waits for, and what happens.
package rollout

import (
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is one workload.
type Screen struct {
	screen.Of
	detail *world.Detail
	pods   podList
	feed   []eventGroup

	view  podView
	panel panel
	// at is the UID of the pod of the cursor, marked are those that acts are about.
	at     string
	marked map[string]bool
}

// New is the screen of the workload that is opened.
func New(o screen.Open) Screen {
	return Screen{Of: screen.Of{Ref: o.Ref}, marked: map[string]bool{}}
}

// Title is the workload's name.
func (s Screen) Title() string { return s.Ref.String() }

// Filtered is the filter of the pods.
func (s Screen) Filtered() string { return s.view.filter }

// Selection is the workload and of its pods those that are marked, else the one of the
// cursor.
func (s Screen) Selection(screen.Env) screen.Selection {
	sel := screen.Selection{Workloads: []cluster.Ref{s.Ref}}
	for uid := range s.marked {
		if p := s.pods.find(uid); p != nil {
			sel.Pods = append(sel.Pods, p.Name)
		}
	}
	if p := s.pods.find(s.at); p != nil && len(sel.Pods) == 0 {
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
		s.view.filter = msg.Text
		return s.refresh(env), nil
	case screen.Order:
		return s.ordered(env, msg), nil
	case screen.Wheel:
		return s.move(s.pods.below(s.at, msg.By)), nil
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

// refresh takes in what has changed.
func (s Screen) refresh(env screen.Env) Screen {
	d := env.World.Of(s.Ref)
	if d == nil {
		s.detail = nil
		return s
	}
	if d != s.detail {
		s.feed = clustered(d.Events)
	}
	s.detail = d
	if d != s.pods.detail || s.view != s.pods.view {
		s.pods = listPods(d, s.view)
	}
	if s.pods.shown(s.at) == nil {
		s.at = ""
		if len(s.pods.table) > 0 {
			s.at = s.pods.table[0].UID
		}
	}
	return s
}

// forget drops the marks of pods that are gone, and reports it: an act would be about more than
// the user has marked.
func (s Screen) forget() (Screen, screen.After) {
	marked := maps.Clone(s.marked)
	maps.DeleteFunc(marked, func(uid string, _ bool) bool { return s.pods.find(uid) == nil })
	if s.detail == nil || len(marked) == len(s.marked) {
		return s, nil
	}
	text := fmt.Sprintf("marked pods are gone, %d left", len(marked))
	if len(marked) == 0 {
		text = "the marked pods are gone: a restart is now about the pod of the cursor"
	}
	s.marked = marked
	return s, screen.Send(screen.Notice{Text: text, Bad: true})
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	if s.detail != nil {
		if w, ok := (draw.Window{At: s.pods.place(s.at)}).Key(key, len(s.pods.table), s.page(env)); ok {
			return s.move(s.pods.below(s.at, w.At-s.pods.place(s.at))), nil
		}
	}
	switch {
	case left.Is(key):
		return s.move(s.pods.next(s.at, -1)), nil
	case right.Is(key):
		return s.move(s.pods.next(s.at, 1)), nil
	case group.Is(key):
		s.view.by = s.view.by.next(s.detail)
		return s.refresh(env), nil
	case sortBy.Is(key):
		s.view.sort = podSorts.Next(s.view.sort)
		return s.refresh(env), nil
	case reverse.Is(key):
		s.view.sort.Reversed = !s.view.sort.Reversed
		return s.refresh(env), nil
	case more.Is(key):
		s.panel = s.panel.shown(env).next(env)
		return s.refresh(env), nil
	case mark.Is(key):
		return s.mark(), nil
	case open.Is(key):
		return s, s.ofPod(screen.Open{Screen: screen.Pod})
	case logs.Is(key):
		return s, s.ofPod(screen.Open{Screen: screen.Logs})
	case shell.Is(key):
		p := s.pods.find(s.at)
		if p == nil || len(p.Containers) == 0 {
			return s, nil
		}
		return s, screen.Send(screen.Shell{Namespace: p.Namespace, Pod: p.Name, Container: p.Containers[0].Name})
	}
	return s, links.Open(key, screen.Open{Ref: s.Ref})
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
	return s.move(s.pods.below(s.at, 1))
}

// page is how many rows of the table are seen.
func (s Screen) page(env screen.Env) int {
	if s.detail == nil {
		return 1
	}
	return max(s.arrange(env, env.Height-len(s.header(env))).table.height-1, 1)
}

// ofPod opens a screen of the pod of the cursor.
func (s Screen) ofPod(o screen.Open) screen.After {
	p := s.pods.find(s.at)
	if p == nil {
		return nil
	}
	o.Ref, o.Pod = s.Ref, world.PodName(s.Ref, p)
	return screen.Send(o)
}

var (
	open    = screen.Binding{Keys: []string{"enter"}, Does: "pod", Help: "the pod of the cursor: containers, conditions, logs"}
	sortBy  = screen.Binding{Keys: []string{"o"}, Does: "sort", Help: "sort pods by the next column"}
	reverse = screen.Binding{Keys: []string{"O"}, Help: "reverse the order"}
	group   = screen.Binding{Keys: []string{"b"}, Does: "group", Help: "group the grid by revision, node, zone or subset", Minor: true}
	more    = screen.Binding{Keys: []string{"tab"}, Does: "more", Help: "one part on the whole screen: pods, steps, past rollouts, events"}
	mark    = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark pods, for R restart"}
	logs    = screen.Binding{Keys: []string{"l"}, Does: "logs", Help: "the log of the pod of the cursor", Minor: true}
	shell   = screen.Binding{Keys: []string{"x"}, Does: "shell", Help: "a shell in the pod of the cursor", Changes: true, Minor: true}
	left    = screen.Binding{Keys: []string{"left", "h"}, Help: "the previous pod of the grid"}
	right   = screen.Binding{Keys: []string{"right"}, Help: "the next pod of the grid"}
)

var links = screen.Links{
	{Binding: screen.Binding{Keys: []string{"D"}, Does: "diff", Help: "what the revisions differ in", Minor: true}, Screen: screen.Diff},
	{Binding: screen.Binding{Keys: []string{"p"}, Does: "plan", Help: "the plan, and a simulation of it", Minor: true}, Screen: screen.Plan},
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML", Minor: true}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the object in words", Minor: true}, Screen: screen.Text, Text: "describe"},
}

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	list := append([]screen.Binding{open, sortBy, more, mark}, links.Keys()...)
	return append(list, logs, shell, group, reverse, left, right)
}

// Calls is the log where a pod crashes.
func (s Screen) Calls() []screen.Binding {
	if s.detail != nil && slices.ContainsFunc(s.detail.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Gate == plan.GateCrash }) {
		return []screen.Binding{logs}
	}
	return nil
}

// Orders are the commands of this screen.
func (Screen) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{
		{Name: "sort", Help: "sort pods by a column", Args: podSorts.Names()},
		{Name: "group", Help: "group the grid", Args: groupNames},
		{Name: "show", Help: "one part on the whole screen, or all", Args: panelNames},
	}
}

// ordered carries a command out.
func (s Screen) ordered(env screen.Env, c screen.Order) Screen {
	if len(c.Args) != 1 {
		return s
	}
	switch name := c.Args[0]; c.Name {
	case "sort":
		s.view.sort = podSorts.Named(name, s.view.sort)
	case "show":
		if i := slices.Index(panelNames, name); i >= 0 {
			s.panel = panel(i)
		}
	case "group":
		if i := slices.Index(groupNames, name); i >= 0 && (grouping(i) != bySubset || s.detail != nil && len(s.detail.Subsets) > 0) {
			s.view.by = grouping(i)
		}
	}
	return s.refresh(env)
}
