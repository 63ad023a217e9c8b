package workloads

import (
	"cmp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// order is how rows are sorted; its zero value is by health.
type order struct {
	by     int
	turned bool
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
	if o.turned {
		c = -c
	}
	return cmp.Or(c, compareRefs(a.Ref, b.Ref))
}

func compareRefs(a, b cluster.Ref) int {
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Name, b.Name), strings.Compare(a.Group, b.Group),
	)
}
