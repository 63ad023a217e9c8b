package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Look returns all workloads as they stand, sorted by namespace, kind and name. Nothing
// comes before all has been loaded.
func (f *Fleet) Look() []*Sight {
	if f.Loading() != "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.index()
	next, out := map[cluster.Ref]*Sight{}, []*Sight{}
	for _, s := range x.standing() {
		sight := f.sight(x, s)
		if last := f.last[sight.Ref()]; last != nil && last.same(sight) {
			sight = last
		}
		next[sight.Ref()] = sight
		out = append(out, sight)
	}
	f.last = next
	f.holders.only(next)
	return out
}

// First returns all workloads as soon as everything about them is known: who drives
// their rollouts, too. The error is about what nothing can be said without.
func (f *Fleet) First(ctx context.Context) ([]*Sight, error) {
	for {
		version := f.Version()
		_ = f.Look() // has it ask who drives them
		known := f.Loading() == "" && f.holders.known()
		if err := f.Fault(); err != nil {
			return nil, err
		}
		if known {
			return f.Look(), nil
		}
		if err := f.Await(ctx, version, time.Time{}); err != nil {
			return nil, err
		}
	}
}

// index is what belongs together, put together once for all workloads.
type index struct {
	workloads []standing
	// pods and children are by the uid of the workload at the top, sidecars are pods by
	// the name of the SidecarSet.
	pods, sidecars map[string][]*cluster.Pod
	children       map[string][]*child
	records        map[cluster.Ref]plan.Record
	nodes          []*cluster.Node
	budgets        map[string][]*kruise.PodUnavailableBudget
	disruptions    map[string][]*policyv1.PodDisruptionBudget
	namespaces     map[string]map[string]string
}

func (f *Fleet) index() *index {
	x := &index{
		pods: map[string][]*cluster.Pod{}, sidecars: map[string][]*cluster.Pod{}, children: map[string][]*child{}, records: map[cluster.Ref]plan.Record{},
		nodes: listed(f.nodes), namespaces: map[string]map[string]string{},
		budgets: bySpace(listed(f.budgets)), disruptions: bySpace(listed(f.disruptions)),
	}
	for _, m := range f.workloads {
		x.workloads = append(x.workloads, listed(m)...)
	}
	x.workloads = append(x.workloads, f.setsListed()...)
	for _, r := range listed(f.records) {
		x.records[r.Ref] = r
	}
	for _, n := range listed(f.namespaces) {
		x.namespaces[n.Name] = n.Labels
	}
	x.own(listed(f.children), listed(f.revisions), listed(f.pods))
	return x
}

// own sorts pods and templates by the workloads that they belong to.
func (x *index) own(sets, revisions []*child, pods []*cluster.Pod) {
	above := map[string]string{}
	for _, c := range sets {
		if c.owner != "" {
			above[c.uid] = c.owner
			x.children[c.owner] = append(x.children[c.owner], c)
		}
	}
	for _, c := range revisions {
		x.children[c.owner] = append(x.children[c.owner], c)
	}
	for _, p := range pods {
		top := cmp.Or(above[p.Owner.UID], p.Owner.UID)
		x.pods[top] = append(x.pods[top], p)
		if in := p.Annotations[kruise.SidecarSetInjectedListAnnotation]; in != "" {
			for name := range strings.SplitSeq(in, ",") {
				x.sidecars[name] = append(x.sidecars[name], p)
			}
		}
	}
}

// standing are the workloads in order. A source that several native ones stand for is
// none of them: each goes by its own name.
func (x *index) standing() []standing {
	times := map[cluster.Ref]int{}
	for _, s := range x.workloads {
		if s.source != nil {
			times[s.source.Ref]++
		}
	}
	out := slices.Clone(x.workloads)
	for i, s := range out {
		if s.source != nil && times[s.source.Ref] > 1 {
			out[i].source = nil
		}
	}
	slices.SortFunc(out, func(a, b standing) int {
		return cmp.Or(strings.Compare(a.ref().Namespace, b.ref().Namespace), strings.Compare(a.ref().Kind, b.ref().Kind),
			strings.Compare(a.ref().Name, b.ref().Name), strings.Compare(a.ref().Group, b.ref().Group))
	})
	return out
}

func (s standing) ref() cluster.Ref {
	if s.source != nil {
		return s.source.Ref
	}
	return s.workload.Ref
}

func (f *Fleet) sight(x *index, s standing) *Sight {
	w := s.workload
	out := &Sight{
		Workload: w, Created: s.created, Pods: x.pods[w.UID], children: x.children[w.UID], gates: f.opt.Gates, unread: f.opt.GatesUnread,
		owners: map[string]bool{w.UID: true}, budgets: x.budgets[w.Namespace], disruptions: x.disruptions[w.Namespace],
	}
	if s.source != nil {
		out.Workload, out.Carrier = s.source, w
	}
	if w.Kind == kruise.KindSidecarSet {
		out.Pods, out.namespaces = x.sidecars[w.Name], x.namespaces
	}
	if w.LooksAtNodes() {
		out.nodes = x.nodes
	}
	for _, c := range out.children {
		out.owners[c.uid] = true
	}
	if out.Record = x.records[out.Ref()]; out.Record.Version != "" && out.Record.Progress.Finished.IsZero() {
		out.Begun, out.Holder = true, f.holders.of(out.Ref())
	}
	return out
}

// setsListed are the SidecarSets that stand among the workloads: those that the selector
// matches, where all namespaces are looked at.
func (f *Fleet) setsListed() []standing {
	selector, err := labels.Parse(f.opt.Selector)
	if f.opt.Namespace != "" || err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(listed(f.sets)), func(s standing) bool { return !selector.Matches(labels.Set(s.workload.Labels)) })
}

// SidecarSets are all of them, each with every pod that is looked at: whoever asks knows
// which it may match. The selector is about other workloads.
func (f *Fleet) SidecarSets() []*Sight {
	if f.Loading() != "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	x, pods := f.index(), listed(f.pods)
	var out []*Sight
	for _, s := range listed(f.sets) {
		one := f.sight(x, s)
		one.Pods = pods
		out = append(out, one)
	}
	return out
}

func bySpace[O metav1.Object](list []O) map[string][]O {
	out := map[string][]O{}
	for _, o := range list {
		out[o.GetNamespace()] = append(out[o.GetNamespace()], o)
	}
	return out
}
