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
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FleetOptions say which workloads to look at.
type FleetOptions struct {
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

// Fleet is all workloads of a namespace, or of the cluster: one list and one watch for
// each kind of object, however many workloads there are. It only reads.
type Fleet struct {
	opt FleetOptions
	// c has the clients and the bell; it looks at no workload.
	c    *Cluster
	link link

	workloads []*mirror[standing]
	sets      *mirror[standing]
	children  *mirror[*child]
	pods      *mirror[*cluster.Pod]
	revisions *mirror[*child]
	records   *mirror[plan.Record]
	nodes     *mirror[*cluster.Node]
	// namespaces, disruptions and budgets may be missing.
	namespaces  *mirror[*corev1.Namespace]
	disruptions *mirror[*policyv1.PodDisruptionBudget]
	budgets     *mirror[*kruise.PodUnavailableBudget]
	holders     holders
	fans        fans

	mu      sync.Mutex
	missing map[string]bool
	skipped []string
	fault   error
	last    map[cluster.Ref]*Sight
}

// OpenFleet begins to watch; it returns at once, and [Fleet.Loading] tells what is
// still missing.
func OpenFleet(ctx context.Context, cfg *rest.Config, o FleetOptions) (*Fleet, error) {
	c, err := connect(ctx, cfg, Options{Gates: o.Gates, StateNamespace: o.StateNamespace})
	if err != nil {
		return nil, err
	}
	f := &Fleet{opt: o, c: c, missing: map[string]bool{}, last: map[cluster.Ref]*Sight{}}
	f.link.changed = c.bell.ring
	f.holders.fleet = f
	parts := f.parts()
	for _, p := range parts {
		f.missing[p.what] = true
	}
	for _, p := range parts {
		go func() { f.began(p, p.begin()) }()
	}
	return f, nil
}

// Close ends the watches.
func (f *Fleet) Close() { f.c.cancel(errClosed) }

// began notes that a part is there, or never will be.
func (f *Fleet) began(p part, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.missing, p.what)
	switch {
	case err == nil, errors.Is(err, errNotServed), f.c.ctx.Err() != nil:
	case p.needed:
		f.fault = errors.Join(f.fault, err)
	default:
		f.skipped = append(f.skipped, err.Error())
	}
	f.c.bell.ring()
}

// Loading says what is not there yet, "" when all is.
func (f *Fleet) Loading() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(f.missing)), ", ")
}

// Fault is what cannot be done without and may not be read; nil while all is well.
func (f *Fleet) Fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// Skipped says in words what is done without, and why.
func (f *Fleet) Skipped() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.skipped))
}

// Link is how the connection is.
func (f *Fleet) Link() Link { return f.link.state() }

// Version changes whenever anything does.
func (f *Fleet) Version() string {
	version, _ := f.c.bell.now()
	return version
}

// Await returns when something has changed since a version, or at a time; zero is no
// limit.
func (f *Fleet) Await(ctx context.Context, since string, until time.Time) error {
	return f.c.bell.wait(ctx, since, until)
}

// Nodes are those of the cluster by name; none where they may not be read.
func (f *Fleet) Nodes() map[string]*cluster.Node {
	if f.Loading() != "" {
		return nil
	}
	out := map[string]*cluster.Node{}
	for _, n := range listed(f.nodes) {
		out[n.Name] = n
	}
	return out
}

// Namespaces are the names of all namespaces; none where they may not be read.
func (f *Fleet) Namespaces() []string {
	if f.Loading() != "" {
		return nil
	}
	var out []string
	for _, n := range listed(f.namespaces) {
		out = append(out, n.Name)
	}
	return slices.Sorted(slices.Values(out))
}

// listed is what a mirror shows that can be read of it; nothing without one.
func listed[T any](m *mirror[T]) []T {
	if m == nil {
		return nil
	}
	list, _ := m.all()
	return list
}

// child is a template on record, as a ReplicaSet or a stored revision, and who owns it.
type child = owned[cluster.Revision]

// empty reports whether a ReplicaSet has no pods and shall have none: then nobody asks
// for its template, of which there may be thousands.
func empty(r *appsv1.ReplicaSet) bool {
	return r.Spec.Replicas != nil && *r.Spec.Replicas == 0 && r.Status.Replicas == 0
}
