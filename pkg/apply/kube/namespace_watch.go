package kube

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// NamespaceWatchOptions say which workloads to watch.
type NamespaceWatchOptions struct {
	// Namespace is empty for all of them.
	Namespace string
	// Selector is a label selector that workloads must match; their pods need not.
	Selector string
	Gates    cluster.Gates
	// GatesUnread is why they are assumed, see plan.Snapshot.
	GatesUnread string
	// StateNamespace is where the records of cluster-scoped kinds live.
	StateNamespace string
}

// NamespaceWatch is all workloads of a namespace, or of the cluster: one list and one watch for
// each kind of object, however many workloads there are. It only reads.
type NamespaceWatch struct {
	opt  NamespaceWatchOptions
	conn *connection
	link connectionWatch

	workloads []*mirror[workloadState]
	sets      *mirror[workloadState]
	children  *mirror[*child]
	pods      *mirror[*cluster.Pod]
	revisions *mirror[*child]
	records   *mirror[plan.Record]
	nodes     *mirror[*cluster.Node]
	// namespaces, disruptions and budgets may be missing.
	namespaces    *mirror[*corev1.Namespace]
	disruptions   *mirror[*policyv1.PodDisruptionBudget]
	budgets       *mirror[*kruise.PodUnavailableBudget]
	executors     executors
	distributions distributions

	mu      sync.Mutex
	missing map[string]bool
	skipped []string
	fault   error
	last    map[cluster.Ref]*WorkloadView
}

// WatchNamespace begins to watch; it returns at once, and [Fleet.Loading] says what is still
// missing.
func WatchNamespace(ctx context.Context, cfg *rest.Config, o NamespaceWatchOptions) (*NamespaceWatch, error) {
	conn, err := connect(ctx, cfg, Options{Gates: o.Gates, StateNamespace: o.StateNamespace})
	if err != nil {
		return nil, err
	}
	f := &NamespaceWatch{opt: o, conn: conn, missing: map[string]bool{}, last: map[cluster.Ref]*WorkloadView{}}
	f.link.changes = conn.changes
	f.executors.of = f
	f.begin()
	return f, nil
}

// Close ends the watches.
func (f *NamespaceWatch) Close() { f.conn.cancel(errClosed) }

// Loading names what is not loaded yet, "" when all is.
func (f *NamespaceWatch) Loading() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(f.missing)), ", ")
}

// Fault is why something that is needed cannot be read; nil if all can.
func (f *NamespaceWatch) Fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// Skipped describes what could not be read and is not needed, and why.
func (f *NamespaceWatch) Skipped() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Sorted(slices.Values(f.skipped))
	if f.records != nil {
		for _, err := range f.records.unread() {
			out = append(out, err.Error())
		}
	}
	return out
}

// Link is the state of the connection.
func (f *NamespaceWatch) Link() Link { return f.link.status() }

// Version changes whenever anything does.
func (f *NamespaceWatch) Version() string {
	version, _ := f.conn.changes.current()
	return version
}

// Await returns when something has changed since a version, or at a time; zero is no
// limit.
func (f *NamespaceWatch) Await(ctx context.Context, since string, until time.Time) error {
	return f.conn.changes.wait(ctx, since, until)
}

// Nodes are those of the cluster by name; none where they may not be read.
func (f *NamespaceWatch) Nodes() map[string]*cluster.Node {
	if f.Loading() != "" {
		return nil
	}
	out := map[string]*cluster.Node{}
	for _, n := range listOf(f.nodes) {
		out[n.Name] = n
	}
	return out
}

// Namespaces are the names of all namespaces; none where they may not be read.
func (f *NamespaceWatch) Namespaces() []string {
	if f.Loading() != "" {
		return nil
	}
	var out []string
	for _, n := range listOf(f.namespaces) {
		out = append(out, n.Name)
	}
	return slices.Sorted(slices.Values(out))
}

// begin begins to watch each kind of object. A kind that is needed is one without which there is nothing to show.
func (f *NamespaceWatch) begin() {
	f.workloads = make([]*mirror[workloadState], len(namespaceKinds))
	f.load("ReplicaSets", true, f.watchReplicaSets)
	f.load("pods", true, f.watchPods)
	f.load("stored revisions", false, f.watchRevisions)
	f.load("nodes", false, f.watchNodes)
	f.load("namespaces", false, f.watchNamespaces)
	f.load("PodDisruptionBudgets", false, f.watchDisruptions)
	f.load("PodUnavailableBudgets", false, f.watchBudgets)
	for i, k := range namespaceKinds {
		resource := kruise.ResourceOf(k.Kind)
		f.load(resource+"."+k.Group, k.Group == "apps", func() error {
			return loadNewestVersion(f, k.Group, resource, f.opt.Selector, readWorkloadState, func(m *mirror[workloadState]) { f.workloads[i] = m })
		})
	}
	f.load("sidecarsets."+kruise.Group, false, f.watchSidecarSets)
	f.load("records of rollouts", false, f.watchRecords)
}

// load begins to watch a kind of object, which is missing until it is there, or never will be.
func (f *NamespaceWatch) load(what string, needed bool, watch func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missing[what] = true
	go func() { f.loaded(what, needed, watch()) }()
}

func (f *NamespaceWatch) loaded(what string, needed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.missing, what)
	switch {
	case err == nil, errors.Is(err, errNotServed), f.conn.ctx.Err() != nil:
	case needed:
		f.fault = errors.Join(f.fault, err)
	default:
		f.skipped = append(f.skipped, err.Error())
	}
	f.conn.changes.broadcast()
}

// namespaceKinds are the workloads of a namespace, except for ReplicaSets.
var namespaceKinds = []schema.GroupKind{
	{Group: kruise.Group, Kind: kruise.KindCloneSet},
	{Group: kruise.Group, Kind: kruise.KindStatefulSet},
	{Group: kruise.Group, Kind: kruise.KindDaemonSet},
	{Group: "apps", Kind: kruise.KindDeployment},
	{Group: "apps", Kind: kruise.KindStatefulSet},
	{Group: "apps", Kind: kruise.KindDaemonSet},
}

// watchSidecarSets watches all of them: they belong to no namespace.
func (f *NamespaceWatch) watchSidecarSets() error {
	read := func(m *mirror[workloadState]) { f.sets = m }
	return loadNewestVersion(f, kruise.Group, kruise.ResourceOf(kruise.KindSidecarSet), "", readWorkloadState, read)
}

// watchReplicaSets watches those of Deployments, which own pods, and those without an
// owner, which are workloads.
func (f *NamespaceWatch) watchReplicaSets() error {
	selector, err := labels.Parse(f.opt.Selector)
	if err != nil {
		return err
	}
	s := typedSource("ReplicaSets", &appsv1.ReplicaSet{}, f.conn.core.AppsV1().ReplicaSets(f.opt.Namespace), "")
	read := func(r *appsv1.ReplicaSet) (*child, error) {
		out := &child{uid: string(r.UID), owner: ownerOf(r)}
		if out.owner == "" || isScaledToZero(r) {
			return out, nil
		}
		out.value, err = cluster.ReadReplicaSet(r)
		return out, err
	}
	if err := loadMirror(f, s, read, func(m *mirror[*child]) { f.children = m }); err != nil {
		return err
	}
	return loadNewestVersion(f, "apps", "replicasets", withoutDeployments(selector), readWorkloadState, func(m *mirror[workloadState]) { f.workloads = append(f.workloads, m) })
}

// child is a stored template, as a ReplicaSet or a ControllerRevision, and its owner.
type child = ownedBy[cluster.Revision]

// isScaledToZero reports whether a ReplicaSet has no pods and should have none: its template
// is not kept, since there may be thousands.
func isScaledToZero(r *appsv1.ReplicaSet) bool {
	return r.Spec.Replicas != nil && *r.Spec.Replicas == 0 && r.Status.Replicas == 0
}

// withoutDeployments selects ReplicaSets that no Deployment has created.
func withoutDeployments(s labels.Selector) string {
	if s.Empty() {
		return "!" + appsv1.DefaultDeploymentUniqueLabelKey
	}
	return s.String() + ",!" + appsv1.DefaultDeploymentUniqueLabelKey
}

func (f *NamespaceWatch) watchPods() error {
	var mu sync.Mutex
	var kin cluster.Interner
	read := func(p *corev1.Pod) (*cluster.Pod, error) {
		mu.Lock()
		defer mu.Unlock()
		out := cluster.ReadPod(p)
		kin.Intern(out)
		out.Digest()
		return out, nil
	}
	return loadMirror(f, typedSource("pods", &corev1.Pod{}, f.conn.core.CoreV1().Pods(f.opt.Namespace), ""), read, func(m *mirror[*cluster.Pod]) { f.pods = m })
}

// watchRevisions keeps the stored templates of Kubernetes' own kinds, by which pods are up
// to date. Kruise's kinds say so in their status.
func (f *NamespaceWatch) watchRevisions() error {
	read := func(r *appsv1.ControllerRevision) (*child, error) {
		out := &child{uid: string(r.UID), owner: ownerOf(r)}
		owner := metav1.GetControllerOfNoCopy(r)
		if owner == nil || owner.APIVersion != "apps/v1" {
			return out, nil
		}
		var err error
		out.value, err = cluster.ReadRevision(r)
		return out, err
	}
	s := typedSource("stored revisions", &appsv1.ControllerRevision{}, f.conn.core.AppsV1().ControllerRevisions(f.opt.Namespace), "")
	return loadMirror(f, s, read, func(m *mirror[*child]) { f.revisions = m })
}

func (f *NamespaceWatch) watchNodes() error {
	read := func(n *corev1.Node) (*cluster.Node, error) { return cluster.ReadNode(n), nil }
	return loadMirror(f, typedSource("nodes", &corev1.Node{}, f.conn.core.CoreV1().Nodes(), ""), read, func(m *mirror[*cluster.Node]) { f.nodes = m })
}

func (f *NamespaceWatch) watchNamespaces() error {
	s := typedSource("namespaces", &corev1.Namespace{}, f.conn.core.CoreV1().Namespaces(), "")
	return loadMirror(f, s, unchanged[*corev1.Namespace], func(m *mirror[*corev1.Namespace]) { f.namespaces = m })
}

func (f *NamespaceWatch) watchDisruptions() error {
	s := typedSource("PodDisruptionBudgets", &policyv1.PodDisruptionBudget{}, f.conn.core.PolicyV1().PodDisruptionBudgets(f.opt.Namespace), "")
	return loadMirror(f, s, unchanged[*policyv1.PodDisruptionBudget], func(m *mirror[*policyv1.PodDisruptionBudget]) { f.disruptions = m })
}

func (f *NamespaceWatch) watchBudgets() error {
	read := func(u *unstructured.Unstructured) (*kruise.PodUnavailableBudget, error) {
		return decodeKruise[kruise.PodUnavailableBudget](u)
	}
	return loadNewestVersion(f, kruise.PolicyGroup, "podunavailablebudgets", "", read, func(m *mirror[*kruise.PodUnavailableBudget]) { f.budgets = m })
}

// watchRecords watches the recorded rollouts.
func (f *NamespaceWatch) watchRecords() error {
	s := typedSource("records of rollouts", &corev1.ConfigMap{}, f.conn.core.CoreV1().ConfigMaps(f.opt.Namespace), recordLabel)
	return loadMirror(f, s, rollouts.read, func(m *mirror[plan.Record]) { f.records = m })
}

// loadMirror begins a mirror of a namespace, and hands it over when it shows all there is.
func loadMirror[O metav1.Object, T any](f *NamespaceWatch, s source, read func(O) (T, error), there func(*mirror[T])) error {
	s.required = true // its absence is for the watch to judge
	m, err := followMirror(f.conn, f.link.monitor(s), read)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	there(m)
	return nil
}

// loadNewestVersion begins a mirror in the newest version of Kruise that is served.
func loadNewestVersion[T any](f *NamespaceWatch, group, resource, selector string, read func(*unstructured.Unstructured) (T, error), there func(*mirror[T])) (err error) {
	namespace := f.opt.Namespace
	if slices.ContainsFunc(kruise.Kinds(), func(k kruise.Registered) bool {
		return k.ClusterScoped && k.Group == group && k.Resource() == resource
	}) {
		namespace = ""
	}
	for _, v := range versionsOf(group) {
		s := f.conn.untypedSource(schema.GroupVersionResource{Group: group, Version: v, Resource: resource}, namespace)
		s.selector = selector
		if err = loadMirror(f, s, read, there); !errors.Is(err, errNotServed) {
			return err
		}
	}
	return err
}
