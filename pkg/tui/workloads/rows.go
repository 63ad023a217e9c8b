package workloads

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/match"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// counts are of all workloads, whatever the filter.
type counts struct {
	all, namespaces int
	health          show.ByHealth
}

// sizes are the widths that the longest names need.
type sizes struct{ namespace, name int }

// refresh works out the rows from the world. The cursor stays at its workload, or at
// its line when that has gone.
func (s Screen) refresh(env screen.Env) Screen {
	all := env.World.Workloads
	s.counts = count(all)
	s.rows = s.filtered(all)
	slices.SortFunc(s.rows, s.order.compare)
	s.sizes = sizes{}
	for _, w := range s.rows {
		s.sizes.namespace = max(s.sizes.namespace, draw.Width(w.Namespace))
		s.sizes.name = max(s.sizes.name, len(w.Kind)+1+draw.Width(w.Name))
	}
	s = s.forget(env.World)
	if i := slices.IndexFunc(s.rows, func(w *world.Workload) bool { return w.Ref == s.at }); i >= 0 {
		s.window.At = i
	}
	return s.move(s.window.Keep(len(s.rows), page(env)))
}

func (s Screen) filtered(all []*world.Workload) []*world.Workload {
	filter := match.New(s.filter)
	rows := make([]*world.Workload, 0, len(all))
	for _, w := range all {
		if s.faults && !w.Health.Faulty() {
			continue
		}
		if filter.Row(w.Labels, w.Name, w.String(), w.Namespace, w.Health.String(), string(w.Driver)) {
			rows = append(rows, w)
		}
	}
	return rows
}

// forget takes marks off workloads that are gone.
func (s Screen) forget(w *world.World) Screen {
	if len(s.marked) == 0 {
		return s
	}
	s.marked = maps.Clone(s.marked)
	maps.DeleteFunc(s.marked, func(r cluster.Ref, _ bool) bool { return w.Find(r) == nil })
	return s
}

func count(all []*world.Workload) counts {
	c, spaces := counts{all: len(all)}, map[string]bool{}
	for _, w := range all {
		c.health[w.Health]++
		spaces[w.Namespace] = true
	}
	c.namespaces = len(spaces)
	return c
}

// order is how rows are sorted; its zero value is by health.
type order struct {
	by       int
	reversed bool
}

// orders are what one can sort by; the way up is the one that is wanted more often.
var orders = []struct {
	name    string
	compare func(a, b *world.Workload) int
}{
	{"health", func(a, b *world.Workload) int { return cmp.Compare(b.Health, a.Health) }},
	{"name", func(a, b *world.Workload) int { return strings.Compare(a.Name, b.Name) }},
	{"updated", func(a, b *world.Workload) int { return cmp.Compare(part(a.Pods.Updated, a), part(b.Pods.Updated, b)) }},
	{"ready", func(a, b *world.Workload) int { return cmp.Compare(part(a.Pods.Ready, a), part(b.Pods.Ready, b)) }},
	{"pods", func(a, b *world.Workload) int { return cmp.Compare(b.Pods.Desired, a.Pods.Desired) }},
	{"age", func(a, b *world.Workload) int { return b.Created.Compare(a.Created) }},
	{"driver", func(a, b *world.Workload) int { return cmp.Compare(a.Driver, b.Driver) }},
}

func part(n int, w *world.Workload) float64 { return float64(n) / float64(max(w.Pods.Desired, 1)) }

func (o order) name() string { return orders[o.by].name }

func (o order) next() order { return order{by: (o.by + 1) % len(orders)} }

func (o order) compare(a, b *world.Workload) int {
	c := orders[o.by].compare(a, b)
	if o.reversed {
		c = -c
	}
	return cmp.Or(c, a.Compare(b.Ref))
}
