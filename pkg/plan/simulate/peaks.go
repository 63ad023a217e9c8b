package simulate

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Peak is the most pods of one thing that were unavailable at a time.
type Peak struct {
	// Kind is poddisruptionbudget, podunavailablebudget, namespace or node.
	Kind, Namespace, Name string
	// Unavailable is how many pods were missing from those that should be available. Of a node
	// it is how many of its pods were not ready or terminating, those that start included: it
	// may be more than all workloads together had unavailable.
	Unavailable int
	// Allowed is what a budget allows; -1 for what has no limit.
	Allowed int
	// Before is how many were before anything started.
	Before int
	// Shared is true if a budget covers pods of several members.
	Shared bool
}

// Breaks reports whether more pods were unavailable than a budget allows which members share.
// What one member does to a budget of its own is for its plan.
func (p Peak) Breaks() bool {
	return p.Shared && p.Allowed >= 0 && p.Unavailable > max(p.Allowed, p.Before)
}

// String names what a peak is of.
func (p Peak) String() string {
	return p.Kind + "/" + strings.TrimPrefix(p.Namespace+"/"+p.Name, "/")
}

type peakKey struct{ kind, namespace, name string }

type peaks map[peakKey]*Peak

func (p peaks) of(kind, namespace, name string, allowed, unavailable int) *Peak {
	key := peakKey{kind, namespace, name}
	one := p[key]
	if one == nil {
		one = &Peak{Kind: kind, Namespace: namespace, Name: name, Allowed: allowed, Before: unavailable}
		p[key] = one
	}
	if unavailable > one.Unavailable {
		one.Unavailable, one.Allowed = unavailable, allowed
	}
	return one
}

// list is in the order of kind and name: budgets, then namespaces, then nodes.
func (p peaks) list() []Peak {
	rank := map[string]int{"poddisruptionbudget": 0, "podunavailablebudget": 1, "namespace": 2, "node": 3}
	var out []Peak
	for _, one := range p {
		if one.Unavailable > 0 || one.Allowed >= 0 {
			out = append(out, *one)
		}
	}
	slices.SortFunc(out, func(a, b Peak) int {
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// sample counts what is unavailable now.
func (d *driver) sample() {
	total, spaces := 0, map[string]int{}
	for _, r := range d.members {
		n := d.unavailable(r.Ref)
		total, spaces[r.Ref.Namespace] = total+n, spaces[r.Ref.Namespace]+n
	}
	d.line.MostUnavailable = max(d.line.MostUnavailable, total)
	for name, n := range spaces {
		d.peaks.of("namespace", "", name, -1, n)
	}
	nodes := map[string]int{}
	for _, p := range d.store.all.now {
		if p.Node != "" && (p.Deleting || !isReady(p)) {
			nodes[p.Node]++
		}
	}
	for name, n := range nodes {
		d.peaks.of("node", "", name, -1, n)
	}
	add := func(kind string, of metav1.Object, n rules.BudgetCounts, pods []*cluster.Pod) {
		d.peaks.of(kind, of.GetNamespace(), of.GetName(), n.Expected-n.Desired, max(0, n.Expected-n.Current)).Shared = d.shared(pods)
	}
	for _, g := range d.budgets.unavailable.list {
		b := d.budgets.unavailableView(g).Rules()
		add("podunavailablebudget", g.budget, b.Counts(), b.Pods)
	}
	for _, g := range d.budgets.disruptions.list {
		b := d.budgets.disruptionView(g).Rules()
		add("poddisruptionbudget", g.budget, b.Counts(), b.Pods)
	}
}

// shared reports whether pods belong to several members.
func (d *driver) shared(pods []*cluster.Pod) bool {
	users := 0
	for _, r := range d.members {
		if o := d.store.objects[r.Ref]; o != nil && d.store.concerns(o, pods) {
			users++
		}
	}
	return users > 1
}
