package lists

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Workloads is the first screen: all workloads.
type Workloads struct {
	list
	// rows are those of a version of the world that pass the filter, in order.
	rows   []*world.Workload
	counts counts
	sizes  sizes

	faults bool
	sort   screen.Sort
	marked map[cluster.Ref]bool
}

// counts are of all workloads, whatever the filter.
type counts struct {
	all, namespaces int
	health          screen.ByHealth
}

// NewWorkloads is the screen as it opens: what is most urgent first.
func NewWorkloads() Workloads { return Workloads{marked: map[cluster.Ref]bool{}} }

// Title is its breadcrumb.
func (Workloads) Title() string { return "workloads" }

// Want is nothing but the list.
func (Workloads) Want() world.Want { return world.Want{} }

// below is how many lines there are for why the row of the cursor is as it is, at least.
func (Workloads) below(env screen.Env) int {
	if env.Height < roomy {
		return 1
	}
	return 2
}

// roomy is from how many lines on there are two for the reason.
const roomy = 16

func (s Workloads) seen(env screen.Env) int { return max(env.Height-above-s.below(env), 1) }

// Update is the screen after a message.
func (s Workloads) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	l, moved := s.after(msg, s.seen(env))
	if s.list = l; moved {
		if c, ok := msg.(screen.Click); ok && c.Double {
			return s, s.open()
		}
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed:
		before := len(s.marked)
		if s = s.refresh(env); before > 0 && len(s.marked) == 0 { // an act would be about the row of the cursor
			return s, screen.Send(screen.Notice{Text: "the marked workloads are gone: keys are now about the row of the cursor", Bad: true})
		}
		return s, nil
	case screen.Filter:
		return s.refresh(env), nil
	case screen.Order:
		switch {
		case msg.Name == "faults":
			s.faults = !s.faults
		case msg.Name == "sort" && len(msg.Args) == 1:
			s.sort = workloadSorts.Named(msg.Args[0], s.sort)
		}
		return s.refresh(env), nil
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

func (s Workloads) key(env screen.Env, key string) (screen.Screen, screen.After) {
	switch {
	case openWorkload.Is(key):
		return s, s.open()
	case mark.Is(key):
		return s.mark(env), nil
	case sortBy.Is(key):
		s.sort = workloadSorts.Next(s.sort)
	case reverse.Is(key):
		s.sort.Reversed = !s.sort.Reversed
	case faults.Is(key):
		s.faults = !s.faults
	case len(s.rows) > 0:
		return s, workloadLinks.Open(key, screen.Open{Ref: s.at})
	default:
		return s, nil
	}
	return s.refresh(env), nil
}

// open opens the rollout of the workload of the cursor.
func (s Workloads) open() screen.After {
	if len(s.rows) == 0 {
		return nil
	}
	return screen.Send(screen.Open{Screen: screen.Rollout, Ref: s.at})
}

// mark marks or unmarks the row, and moves to the next one.
func (s Workloads) mark(env screen.Env) Workloads {
	if len(s.rows) == 0 {
		return s
	}
	s.marked = maps.Clone(s.marked)
	if s.marked[s.at] {
		delete(s.marked, s.at)
	} else {
		s.marked[s.at] = true
	}
	s.list = s.move(s.window.Move(1, len(s.rows), s.seen(env)))
	return s
}

// Selection is what is marked, else the row of the cursor. What is marked counts
// although a filter hides it, and is named in the summary.
func (s Workloads) Selection(screen.Env) screen.Selection {
	if len(s.marked) > 0 {
		refs := slices.Collect(maps.Keys(s.marked))
		slices.SortFunc(refs, cluster.Ref.Compare)
		return screen.Selection{Workloads: refs}
	}
	if len(s.rows) == 0 {
		return screen.Selection{}
	}
	return screen.Selection{Workloads: []cluster.Ref{s.at}}
}

// refresh works out the rows from the world, and takes marks off workloads that are gone.
func (s Workloads) refresh(env screen.Env) Workloads {
	s.counts, s.sizes, s.rows = counts{all: len(env.World.Workloads)}, sizes{}, nil
	filter, spaces := screen.NewMatch(s.filter), map[string]bool{}
	for _, w := range env.World.Workloads {
		s.counts.health[w.Health]++
		spaces[w.Namespace] = true
		if s.faults && !w.Health.Faulty() || !filter.Row(w.Labels, w.Name, w.String(), w.Namespace, w.Health.String(), string(w.Driver)) {
			continue
		}
		s.rows = append(s.rows, w)
		s.sizes.namespace = max(s.sizes.namespace, draw.Width(w.Namespace))
		s.sizes.name = max(s.sizes.name, len(w.Kind)+1+draw.Width(w.Name))
	}
	s.counts.namespaces = len(spaces)
	slices.SortFunc(s.rows, func(a, b *world.Workload) int {
		return cmp.Or(workloadSorts.Compare(s.sort, a, b), a.Compare(b.Ref))
	})
	s.marked = maps.Clone(s.marked)
	maps.DeleteFunc(s.marked, func(r cluster.Ref, _ bool) bool { return env.World.Find(r) == nil })
	refs := make([]cluster.Ref, len(s.rows))
	for i, w := range s.rows {
		refs[i] = w.Ref
	}
	s.list = s.with(refs, s.seen(env))
	return s
}

var (
	openWorkload = screen.Binding{Keys: []string{"enter", "right"}, Does: "open", Help: "the rollout of the workload: steps, pods, what it waits for"}
	mark         = screen.Binding{Keys: []string{"space"}, Does: "mark", Help: "mark several, then act on all of them"}
	faults       = screen.Binding{Keys: []string{"f"}, Does: "problems", Help: "only workloads that need attention: paused, degraded, blocked"}
	sortBy       = screen.Binding{Keys: []string{"o"}, Does: "sort", Help: "sort by the next column"}
	reverse      = screen.Binding{Keys: []string{"O"}, Does: "reverse", Help: "reverse the order"}
)

var workloadLinks = screen.Links{
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "describe the object", Minor: true}, Screen: screen.Text, Text: "describe"},
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the object as YAML", Minor: true}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"D"}, Does: "diff", Help: "what its revisions differ in", Minor: true}, Screen: screen.Diff},
}

// Keys are those of this screen.
func (Workloads) Keys() []screen.Binding {
	return append([]screen.Binding{openWorkload, faults, sortBy, reverse, mark}, workloadLinks.Keys()...)
}

// Orders are its commands.
func (Workloads) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{
		{Name: "sort", Help: "sort by a column", Args: workloadSorts.Names()},
		{Name: "faults", Help: "only workloads that need attention, or all again"},
	}
}

// workloadSorts are what workloads can be sorted by.
var workloadSorts = screen.Sorts[*world.Workload]{
	{"health", func(a, b *world.Workload) int { return cmp.Compare(b.Health, a.Health) }},
	{"name", func(a, b *world.Workload) int { return strings.Compare(a.Name, b.Name) }},
	{"updated", func(a, b *world.Workload) int { return cmp.Compare(part(a.Pods.Updated, a), part(b.Pods.Updated, b)) }},
	{"ready", func(a, b *world.Workload) int { return cmp.Compare(part(a.Pods.Ready, a), part(b.Pods.Ready, b)) }},
	{"pods", func(a, b *world.Workload) int { return cmp.Compare(b.Pods.Desired, a.Pods.Desired) }},
	{"age", func(a, b *world.Workload) int { return b.Created.Compare(a.Created) }},
	{"driver", func(a, b *world.Workload) int { return cmp.Compare(a.Driver, b.Driver) }},
}

func part(n int, w *world.Workload) float64 { return float64(n) / float64(max(w.Pods.Desired, 1)) }
