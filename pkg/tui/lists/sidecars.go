package lists

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Sidecars is the matrix of SidecarSets and workloads, and of the cell of the cursor what
// is old, what cannot be upgraded and why, and where hot upgrades stand.
type Sidecars struct {
	list
	sets []*world.SidecarSet
	// rows are the workloads that pass the filter; the first row is all of them.
	rows []sidecarRow
	// known is false until the sets have arrived.
	known bool
	sizes sizes
	// set is that of the cursor: sets come and go.
	set string
}

// sidecarRow is one workload: a cell for each set, nil where that matches none of its pods.
type sidecarRow struct {
	ref   cluster.Ref
	cells []*world.SidecarCell
}

// NewSidecars is the screen as it opens; a SidecarSet that is pointed at is the one of the
// cursor.
func NewSidecars(o screen.Open) Sidecars {
	if o.Ref.Kind == kruise.KindSidecarSet {
		return Sidecars{set: o.Ref.Name}
	}
	return Sidecars{list: list{at: o.Ref}}
}

// Title is its breadcrumb.
func (Sidecars) Title() string { return "sidecars" }

// Want is all SidecarSets.
func (Sidecars) Want() world.Want { return world.Want{Sidecars: true} }

// Selection is the set of the cursor: a rollout is one of a set.
func (s Sidecars) Selection(screen.Env) screen.Selection {
	if s.current() == nil {
		return screen.Selection{}
	}
	return screen.Selection{Workloads: []cluster.Ref{s.setRef()}}
}

// Update is the screen after a message.
func (s Sidecars) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	l, moved := s.after(msg, s.seen(env))
	if s.list = l; moved {
		if c, ok := msg.(screen.Click); ok {
			return s.click(env, c)
		}
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed, screen.Filter:
		return s.refresh(env), nil
	case tea.KeyPressMsg:
		return s.key(msg.String())
	}
	return s, nil
}

func (s Sidecars) key(key string) (screen.Screen, screen.After) {
	switch {
	case left.Is(key):
		return s.beside(-1), nil
	case right.Is(key):
		return s.beside(1), nil
	case openSidecar.Is(key):
		return s, s.open()
	case s.current() == nil:
		return s, nil
	}
	return s, sidecarLinks.Open(key, screen.Open{Ref: s.setRef()})
}

// click goes to the set of a cell; a second click opens it.
func (s Sidecars) click(env screen.Env, c screen.Click) (screen.Screen, screen.After) {
	first, last := s.shown(env)
	if column := (c.X - s.left()) / (cellWidth + gap); c.X >= s.left() && first+column < last {
		s.set = s.sets[first+column].Name
	}
	if c.Double {
		return s, s.open()
	}
	return s, nil
}

// beside goes to another set.
func (s Sidecars) beside(by int) Sidecars {
	if i := s.column() + by; i >= 0 && i < len(s.sets) {
		s.set = s.sets[i].Name
	}
	return s
}

// open is the rollout of the set on the row of all workloads, and that of the workload
// on any other.
func (s Sidecars) open() screen.After {
	ref := s.at
	if ref == (cluster.Ref{}) {
		ref = s.setRef()
	}
	if ref.Name == "" {
		return nil
	}
	return screen.Send(screen.Open{Screen: screen.Rollout, Ref: ref})
}

var (
	openSidecar = screen.Binding{Keys: []string{"enter"}, Does: "open", Help: "the rollout of the set in the row of all workloads, else that of the workload"}
	left        = screen.Binding{Keys: []string{"left", "h"}, Does: "set", Help: "the set before"}
	right       = screen.Binding{Keys: []string{"right", "tab"}, Help: "the next set"}
)

var sidecarLinks = screen.Links{
	{Binding: screen.Binding{Keys: []string{"y"}, Does: "yaml", Help: "the set as YAML", Minor: true}, Screen: screen.Text, Text: "yaml"},
	{Binding: screen.Binding{Keys: []string{"d"}, Does: "describe", Help: "the set in words", Minor: true}, Screen: screen.Text, Text: "describe"},
}

// Keys are those of this screen.
func (Sidecars) Keys() []screen.Binding {
	return append([]screen.Binding{openSidecar, left, right}, sidecarLinks.Keys()...)
}

// refresh works out the rows. The cursor stays at its set and workload.
func (s Sidecars) refresh(env screen.Env) Sidecars {
	if s.known = env.World.Sidecars != nil; !s.known {
		return s
	}
	s.sets = env.World.Sidecars.Sets
	s.rows = s.filtered(env.World)
	if s.current() == nil && len(s.sets) > 0 {
		s.set = s.sets[0].Name
	}
	refs, spaces := make([]cluster.Ref, len(s.rows)), map[string]bool{}
	s.sizes = sizes{}
	for i, r := range s.rows {
		refs[i] = r.ref
		s.sizes.name = min(max(s.sizes.name, draw.Width(sidecarName(r.ref))), mostName)
		s.sizes.namespace = max(s.sizes.namespace, draw.Width(r.ref.Namespace))
		spaces[r.ref.Namespace] = true
	}
	s.sizes.namespaces = len(spaces) - 1 // the row of all workloads has none
	s.list = s.with(refs, s.seen(env))
	return s
}

// filtered are the row of all workloads, and those that pass the filter.
func (s Sidecars) filtered(w *world.World) []sidecarRow {
	filter, labels := screen.NewMatch(s.filter), map[cluster.Ref]map[string]string{}
	for _, one := range w.Workloads {
		labels[one.Ref] = one.Labels
	}
	at := map[cluster.Ref]int{}
	var rows []sidecarRow
	for i, set := range s.sets {
		for c := range set.Cells {
			cell := &set.Cells[c]
			ref := cell.Workload
			if !filter.Row(labels[ref], ref.Name, sidecarName(ref), ref.Namespace) {
				continue
			}
			if _, known := at[ref]; !known {
				at[ref] = len(rows)
				rows = append(rows, sidecarRow{ref, make([]*world.SidecarCell, len(s.sets))})
			}
			rows[at[ref]].cells[i] = cell
		}
	}
	slices.SortFunc(rows, func(a, b sidecarRow) int { return strings.Compare(sidecarOrder(a.ref), sidecarOrder(b.ref)) })
	if len(rows) == 0 {
		return nil
	}
	return append([]sidecarRow{s.whole()}, rows...)
}

func sidecarOrder(r cluster.Ref) string { return r.Namespace + "\x00" + r.Kind + "\x00" + r.Name }

// whole is the row of all workloads.
func (s Sidecars) whole() sidecarRow {
	all := sidecarRow{cells: make([]*world.SidecarCell, len(s.sets))}
	for i, set := range s.sets {
		sum := &world.SidecarCell{Matched: set.Matched, Updated: set.Updated, Ready: set.Ready, Upgrading: map[string]string{}}
		for _, c := range set.Cells {
			sum.UpdatedReady += c.UpdatedReady
			for _, h := range c.Held {
				sum.Hold(h.Why, h.Pods...)
			}
			maps.Copy(sum.Upgrading, c.Upgrading)
		}
		all.cells[i] = sum
	}
	return all
}

// sidecarName is how a row is called; pods without an owner have none.
func sidecarName(r cluster.Ref) string {
	switch {
	case r == cluster.Ref{}:
		return "all workloads"
	case r.Name == "":
		return "pods without a workload"
	}
	return r.String()
}

func (s Sidecars) column() int {
	return slices.IndexFunc(s.sets, func(set *world.SidecarSet) bool { return set.Name == s.set })
}

// current is the set of the cursor, nil where there is none.
func (s Sidecars) current() *world.SidecarSet {
	if i := s.column(); i >= 0 {
		return s.sets[i]
	}
	return nil
}

func (s Sidecars) setRef() cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kruise.KindSidecarSet, Name: s.set}
}

// cell is the one of the cursor, nil where the set matches no pod of the workload.
func (s Sidecars) cell() *world.SidecarCell {
	i := s.column()
	if i < 0 || s.window.At >= len(s.rows) {
		return nil
	}
	return s.rows[s.window.At].cells[i]
}
