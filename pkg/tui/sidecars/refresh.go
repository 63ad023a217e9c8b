package sidecars

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// sizes are the widths that the longest names need; namespaces counts those there are.
type sizes struct{ namespace, name, namespaces int }

// refresh works out the rows. The cursor stays at its set and workload.
func (s Screen) refresh(env screen.Env) Screen {
	if s.known = env.World.Sidecars != nil; !s.known {
		return s
	}
	s.sets = env.World.Sidecars.Sets
	s.rows = s.filtered(env.World)
	s.sizes = measure(s.rows)
	if s.current() == nil && len(s.sets) > 0 {
		s.set = s.sets[0].Name
	}
	if i := slices.IndexFunc(s.rows, func(r row) bool { return r.ref == s.at }); i >= 0 {
		s.window.At = i
	}
	return s.move(s.window.Keep(len(s.rows), page(env)))
}

// filtered are the row of all workloads, and those that pass the filter.
func (s Screen) filtered(w *world.World) []row {
	filter, labels := match.New(s.filter), map[cluster.Ref]map[string]string{}
	for _, one := range w.Workloads {
		labels[one.Ref] = one.Labels
	}
	at := map[cluster.Ref]int{}
	var rows []row
	for i, set := range s.sets {
		for c := range set.Cells {
			cell := &set.Cells[c]
			ref := cell.Workload
			if !filter.Row(labels[ref], ref.Name, name(ref), ref.Namespace) {
				continue
			}
			if _, known := at[ref]; !known {
				at[ref] = len(rows)
				rows = append(rows, row{ref, make([]*world.SidecarCell, len(s.sets))})
			}
			rows[at[ref]].cells[i] = cell
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(order(a.ref), order(b.ref)) })
	if len(rows) == 0 {
		return nil
	}
	return append([]row{s.whole()}, rows...)
}

func order(r cluster.Ref) string { return r.Namespace + "\x00" + r.Kind + "\x00" + r.Name }

// whole is the row of all workloads.
func (s Screen) whole() row {
	all := row{cells: make([]*world.SidecarCell, len(s.sets))}
	for i, set := range s.sets {
		sum := &world.SidecarCell{Matched: set.Matched, Updated: set.Updated, Ready: set.Ready, Upgrading: map[string]string{}}
		for _, c := range set.Cells {
			sum.UpdatedReady += c.UpdatedReady
			sum.Held = append(sum.Held, c.Held...)
			maps.Copy(sum.Upgrading, c.Upgrading)
		}
		all.cells[i] = sum
	}
	return all
}

// name is how a row is called; pods without an owner have none.
func name(r cluster.Ref) string {
	switch {
	case r == cluster.Ref{}:
		return "all workloads"
	case r.Name == "":
		return "pods without a workload"
	}
	return r.String()
}

func measure(rows []row) sizes {
	var s sizes
	spaces := map[string]bool{}
	for _, r := range rows {
		s.name = max(s.name, draw.Width(name(r.ref)))
		s.namespace = max(s.namespace, draw.Width(r.ref.Namespace))
		spaces[r.ref.Namespace] = true
	}
	s.namespaces = len(spaces) - 1
	s.name = min(s.name, mostName)
	return s
}

func (s Screen) column() int {
	return slices.IndexFunc(s.sets, func(set *world.SidecarSet) bool { return set.Name == s.set })
}

// current is the set of the cursor, nil where there is none.
func (s Screen) current() *world.SidecarSet {
	if i := s.column(); i >= 0 {
		return s.sets[i]
	}
	return nil
}

func (s Screen) setRef() cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kruise.KindSidecarSet, Name: s.set}
}

// cell is the one of the cursor, nil where the set matches no pod of the workload.
func (s Screen) cell() *world.SidecarCell {
	i := s.column()
	if i < 0 || s.window.At >= len(s.rows) {
		return nil
	}
	return s.rows[s.window.At].cells[i]
}
