package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// Look returns all workloads as they are now, sorted by namespace, kind and name; nothing
// before all has been loaded.
func (f *NamespaceWatch) Look() []*WorkloadView {
	if f.Loading() != "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.index()
	next, out := map[cluster.Ref]*WorkloadView{}, []*WorkloadView{}
	for _, s := range x.sorted() {
		sight := f.view(x, s)
		if last := f.last[sight.Ref()]; last != nil && last.equal(sight) {
			sight = last
		}
		next[sight.Ref()] = sight
		out = append(out, sight)
	}
	f.last = next
	f.executors.keepOnly(next)
	return out
}

// First returns all workloads as soon as everything about them is known, including the
// executors of their rollouts. The error is about something that is needed.
func (f *NamespaceWatch) First(ctx context.Context) ([]*WorkloadView, error) {
	for {
		version := f.Version()
		_ = f.Look() // it asks for the executors
		known := f.Loading() == "" && f.executors.allKnown()
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

// SidecarSets are all of them, each with every pod that is watched: the caller decides
// which it matches. The selector is about other workloads.
func (f *NamespaceWatch) SidecarSets() []*WorkloadView {
	if f.Loading() != "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	x, pods := f.index(), listOf(f.pods)
	var out []*WorkloadView
	for _, s := range listOf(f.sets) {
		one := f.view(x, s)
		one.Pods = pods
		out = append(out, one)
	}
	return out
}

// workloadIndex is what belongs together, put together once for all workloads.
type workloadIndex struct {
	workloads []workloadState
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

func (f *NamespaceWatch) index() *workloadIndex {
	x := &workloadIndex{
		pods: map[string][]*cluster.Pod{}, sidecars: map[string][]*cluster.Pod{}, children: map[string][]*child{}, records: map[cluster.Ref]plan.Record{},
		nodes: listOf(f.nodes), namespaces: map[string]map[string]string{},
		budgets: byNamespace(listOf(f.budgets)), disruptions: byNamespace(listOf(f.disruptions)),
	}
	for _, m := range f.workloads {
		x.workloads = append(x.workloads, listOf(m)...)
	}
	x.workloads = append(x.workloads, f.selectedSidecarSets()...)
	for _, r := range listOf(f.records) {
		x.records[r.Ref] = r
	}
	for _, n := range listOf(f.namespaces) {
		x.namespaces[n.Name] = n.Labels
	}
	x.sortByOwner(listOf(f.children), listOf(f.revisions), listOf(f.pods))
	return x
}

// sortByOwner sorts pods and templates by the workloads that they belong to.
func (x *workloadIndex) sortByOwner(sets, revisions []*child, pods []*cluster.Pod) {
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

func byNamespace[O metav1.Object](list []O) map[string][]O {
	out := map[string][]O{}
	for _, o := range list {
		out[o.GetNamespace()] = append(out[o.GetNamespace()], o)
	}
	return out
}

// selectedSidecarSets are the SidecarSets among the workloads: those that the selector
// matches, where all namespaces are watched.
func (f *NamespaceWatch) selectedSidecarSets() []workloadState {
	selector, err := labels.Parse(f.opt.Selector)
	if f.opt.Namespace != "" || err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(listOf(f.sets)), func(s workloadState) bool { return !selector.Matches(labels.Set(s.workload.Labels)) })
}

// sorted are the workloads in order. Where several native ones were rendered from one
// source, each has its own name.
func (x *workloadIndex) sorted() []workloadState {
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
	slices.SortFunc(out, func(a, b workloadState) int {
		return cmp.Or(strings.Compare(a.ref().Namespace, b.ref().Namespace), strings.Compare(a.ref().Kind, b.ref().Kind),
			strings.Compare(a.ref().Name, b.ref().Name), strings.Compare(a.ref().Group, b.ref().Group))
	})
	return out
}

// workloadState is a workload of a watched namespace.
type workloadState struct {
	observedWorkload

	created time.Time
}

func (s workloadState) ref() cluster.Ref {
	if s.source != nil {
		return s.source.Ref
	}
	return s.workload.Ref
}

// readWorkloadState reads a workload and, where it was rendered from one of Kruise, that:
// both bare, since there may be thousands.
func readWorkloadState(u *unstructured.Unstructured) (workloadState, error) {
	n := tree.FromValue(u.Object)
	w, err := cluster.ReadBare(n)
	if err != nil {
		return workloadState{}, err
	}
	out := workloadState{observedWorkload: observedWorkload{workload: w}, created: u.GetCreationTimestamp().Time}
	kind, name, ok := strings.Cut(w.Labels[kruise.SourceLabel], ".")
	if !ok || w.Annotations[kruise.StrategyAnnotation] == "" {
		return out, nil
	}
	for _, k := range namespaceKinds {
		if k.Group == kruise.Group && strings.ToLower(k.Kind) == kind {
			out.source, err = cluster.ReadBareSource(n, k.Kind, name)
		}
	}
	return out, err
}

func (f *NamespaceWatch) view(x *workloadIndex, s workloadState) *WorkloadView {
	w := s.workload
	out := &WorkloadView{
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
		out.Begun, out.Executor = true, f.executors.executorOf(out.Ref())
	}
	return out
}

// WorkloadView is one workload of a watched namespace as it is now. It never changes: an unchanged workload is
// the same WorkloadView, by its pointer.
type WorkloadView struct {
	// Workload is what users name; Carrier is the native object that it was rendered into
	// where there is no Kruise, nil elsewhere. Both may be bare ([cluster.ReadBare]);
	// those of a Snapshot are whole.
	Workload, Carrier *cluster.Workload
	Created           time.Time
	Pods              []*cluster.Pod
	// Record is its rollout, Begun whether there is one that has not ended, Holder its
	// executor.
	Record   plan.Record
	Begun    bool
	Executor string

	owners      map[string]bool
	children    []*child
	nodes       []*cluster.Node
	budgets     []*kruise.PodUnavailableBudget
	disruptions []*policyv1.PodDisruptionBudget
	namespaces  map[string]map[string]string
	gates       cluster.Gates
	unread      string
}

// Snapshot is what is known of it, at a time. What only the executor reads is
// missing: results of checks, pulls of images.
func (s *WorkloadView) Snapshot(now time.Time) (plan.Snapshot, error) {
	out := plan.Snapshot{Pods: s.Pods, Namespaces: s.namespaces, Gates: s.gates, GatesUnread: s.unread}
	if err := s.fillWorkload(&out); err != nil {
		return out, err
	}
	if s.Begun {
		out.Progress, out.Base = s.Record.Progress, s.Record.Base
	}
	for _, c := range s.children {
		if c.value.Template != nil {
			out.Revisions = append(out.Revisions, c.value)
		}
	}
	if len(s.nodes) > 0 {
		out.Nodes = make(map[string]*cluster.Node, len(s.nodes))
		for _, n := range s.nodes {
			out.Nodes[n.Name] = n
		}
	}
	w := out.Object()
	g := &controller.Guards{
		Now: now, Unavailable: s.budgets, Disruption: s.disruptions, Pods: s.Pods, Workloads: controller.OwnedBy(w, s.owners),
	}
	var err error
	out.Budgets, out.Disruptions, err = g.Rules()
	return out, err
}

// fillWorkload adds the workload, with the parts that are read on demand.
func (s *WorkloadView) fillWorkload(to *plan.Snapshot) (err error) {
	if to.Workload, err = s.Workload.Whole(); err != nil || s.Carrier == nil {
		return err
	}
	to.Carrier, err = s.Carrier.Whole()
	return err
}

// Plan is that of its rollout; without one, what its controller has to do.
func (s *WorkloadView) Plan(now plan.Snapshot) plan.Plan {
	if s.Begun {
		return s.Record.Plan
	}
	return plan.CurrentSpecPlan(now)
}

// equal reports whether two show the same.
func (s *WorkloadView) equal(t *WorkloadView) bool {
	return s.Workload == t.Workload && s.Carrier == t.Carrier && s.Record.Version == t.Record.Version && s.Executor == t.Executor &&
		slices.Equal(s.Pods, t.Pods) && slices.Equal(s.children, t.children) && slices.Equal(s.nodes, t.nodes) &&
		slices.Equal(s.budgets, t.budgets) && slices.Equal(s.disruptions, t.disruptions)
}

// Ref is its name.
func (s *WorkloadView) Ref() cluster.Ref { return s.Workload.Ref }

// executors name the executors of rollouts: a watch for the lease of each that has not ended.
// There are few, and all leases of a cluster would be those of all its nodes.
type executors struct {
	of *NamespaceWatch

	mu     sync.Mutex
	leases map[cluster.Ref]*leaseWatch
}

// leaseWatch is the lease of one rollout.
type leaseWatch struct {
	stop context.CancelFunc
	core kubernetes.Interface

	mu sync.Mutex
	// lease is nil until the first answer, and where it may not be read; asked says that
	// there was an answer.
	lease *mirror[*coordinationv1.Lease]
	asked bool
}

// unreadExecutor replaces the holder of a lease that may not be read.
const unreadExecutor = "an executor that you may not read"

// executorOf names the executor of a rollout now, "" for none. The first call begins the watch.
func (h *executors) executorOf(ref cluster.Ref) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[ref]
	if l == nil {
		if h.leases == nil {
			h.leases = map[cluster.Ref]*leaseWatch{}
		}
		l = h.watch(ref)
		h.leases[ref] = l
	}
	return l.executor()
}

func (h *executors) watch(ref cluster.Ref) *leaseWatch {
	c := h.of.conn
	ctx, stop := context.WithCancel(c.ctx)
	l := &leaseWatch{stop: stop, core: c.core}
	namespace, name := recordLocation(ref, c.opt.StateNamespace)
	s := typedSource("the lease of "+ref.String(), &coordinationv1.Lease{}, c.core.CoordinationV1().Leases(namespace), "")
	s.fields = fields.OneTermEqualSelector("metadata.name", name).String()
	m := newMirror(c.changes, readAs(unchanged[*coordinationv1.Lease]))
	go func() {
		err := follow(ctx, h.of.link.monitor(s), m)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.asked = true; err == nil {
			l.lease = m
		}
		c.changes.broadcast()
	}()
	return l
}

func (l *leaseWatch) executor() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return unreadExecutor // a rollout does not count as unattended before that is known
	}
	for _, lease := range listOf(l.lease) {
		return holderOf(lease, serverTime(l.core))
	}
	return ""
}

// allKnown reports whether the answers about all leases are there.
func (h *executors) allKnown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.leases {
		l.mu.Lock()
		asked := l.asked
		l.mu.Unlock()
		if !asked {
			return false
		}
	}
	return true
}

// keepOnly ends the watches of rollouts that have ended.
func (h *executors) keepOnly(sights map[cluster.Ref]*WorkloadView) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ref, l := range h.leases {
		if s := sights[ref]; s == nil || !s.Begun {
			l.stop()
			delete(h.leases, ref)
		}
	}
}
