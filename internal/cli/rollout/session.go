package rollout

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// session is one workload of a cluster, watched.
type session struct {
	*kube.Cluster
	// object is what is in the cluster, target what was asked for: they differ where
	// there is no Kruise.
	object  *resource.Resource
	target  kube.Object
	carrier *kube.Object
	// parent is the UnitedDeployment that the workload is a subset of; nil for none.
	parent *parent
	// whole indicates that the caller rolls out all subsets of that one, and ends the rollout of the
	// whole itself.
	whole bool
}

// clusterFlags are those of all verbs that reach the cluster.
type clusterFlags struct {
	stateNamespace string
	// manager owns the fields that are written, "" is the default.
	manager string
	// authority is what this person allows.
	authority authority
}

// common is how verbs reach the cluster: it opens workloads, and has the records of their rollouts.
type common struct {
	*clusterFlags

	factory *factory.Factory
	// reader asks once for the feature gates of Kruise in the cluster; gateFlags say which of them differ
	// from what it reports, nil for none.
	reader    *installation.GateReader
	gateFlags *installation.GateFlags
	// watches are those that workloads have in common.
	watches *watches
}

func newCommon(f *factory.Factory) *common {
	return &common{clusterFlags: &clusterFlags{}, factory: f, reader: &installation.GateReader{}, watches: &watches{}}
}

// withGates is the same for a verb that has flags for feature gates.
func (c *common) withGates(flags *installation.GateFlags) *common {
	out := *c
	out.gateFlags = flags
	return &out
}

// watches are shared by the workloads that are opened meanwhile.
type watches struct {
	// shared are the watches; nil has each workload watched by itself.
	shared *kube.Shared
	// releases are the Kruise Rollouts of each namespace that was asked for, while watches
	// are shared.
	releases map[string]map[cluster.Ref]*release.Rollout
}

// locate finds the workload that a name means.
func (c *common) locate(ctx context.Context, name resourcearg.Name) (*session, error) {
	namespace, err := c.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	return c.locateIn(ctx, name, namespace)
}

func (c *common) locateIn(ctx context.Context, name resourcearg.Name, namespace string) (*session, error) {
	client, err := c.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	found, err := clusterread.FindWorkload(ctx, client, name, namespace)
	if err != nil {
		return nil, err
	}
	s := located(found, name)
	s.parent, err = parentOf(ctx, client, found)
	return s, err
}

// located is what was found under a name: the workload, or what it was rendered into.
func located(found *resource.Resource, name resourcearg.Name) *session {
	s := &session{object: found, target: objectOf(found)}
	if !name.Means(found.Group(), found.Kind(), found.Name()) {
		carrier := s.target
		s.carrier = &carrier
		s.target.Ref = cluster.Ref{Group: name.Kinds[0].Group, Kind: name.Kinds[0].Kind, Namespace: found.Namespace(), Name: name.Name}
	}
	return s
}

// objectOf names an object and how it is served. An Advanced StatefulSet is always
// written in v1beta1: v1alpha1 loses fields (docs/kruise/workloads.md#cloneset-in-two-versions).
func objectOf(r *resource.Resource) kube.Object {
	kind := schema.GroupKind{Group: r.Group(), Kind: r.Kind()}
	version, _ := schema.ParseGroupVersion(r.APIVersion())
	return kube.Object{
		Ref:      cluster.Ref{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()},
		Resource: version.WithResource(resourcearg.Plural(kind)),
	}
}

// open begins to watch.
func (c *common) open(ctx context.Context, name resourcearg.Name) (*session, error) {
	s, err := c.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, c.watch(ctx, s)
}

// watch begins to watch what was located.
func (c *common) watch(ctx context.Context, s *session) error {
	cfg, err := c.factory.Config()
	if err != nil {
		return err
	}
	gates, unread := c.gates(ctx, cfg)
	s.Cluster, err = kube.Open(ctx, cfg, kube.Options{
		Target: s.target, Carrier: s.carrier, Gates: gates, GatesUnread: unread, StateNamespace: c.stateNamespace, Holder: holder(), Program: program(), Manager: c.manager, Shared: c.watches.shared, AcquireBy: c.factory.Deadline,
		Warnings: c.factory.Streams.Err,
	})
	return err
}

// gates are those of the release of Kruise that the cluster has; unread is why they are assumed.
func (c *common) gates(ctx context.Context, cfg *rest.Config) (gates cluster.Gates, unread string) {
	var flags installation.GateFlags
	if c.gateFlags != nil {
		flags = *c.gateFlags
	}
	set, unread, err := c.reader.Live(ctx, cfg, flags)
	if err != nil {
		return cluster.DefaultGates(), ""
	}
	return set.Gates, unread
}

var _ apply.Workload = (*session)(nil)

// rollouts are those of the cluster.
func (c *common) rollouts() (apply.Rollouts, error) { return c.rolloutsOf(nil) }

// rolloutsOf are those of the cluster. known are workloads that were found already, and may be open.
func (c *common) rolloutsOf(known map[cluster.Ref]*session) (apply.Rollouts, error) {
	records, err := c.records()
	if err != nil {
		return apply.Rollouts{}, err
	}
	return apply.Rollouts{
		Records: records, By: holder(), Approvals: c.approvals(),
		Workloads: &workloads{common: c, client: records.Client, known: known},
	}, nil
}

// workloads are opened for those who act on rollouts and carry them out.
type workloads struct {
	*common

	client kubernetes.Interface
	mu     sync.Mutex
	// known are workloads that were found already, and may be open: each is handed out once, since its
	// user closes it.
	known map[cluster.Ref]*session
}

// Open begins to watch a workload. Who may not even do that may not drive its rollout.
func (w *workloads) Open(ctx context.Context, ref cluster.Ref) (_ apply.Workload, err error) {
	w.mu.Lock()
	s := w.known[ref]
	delete(w.known, ref)
	w.mu.Unlock()
	if s == nil {
		s, err = w.locateIn(ctx, nameOfRef(ref), ref.Namespace)
	}
	if err == nil && s.Cluster == nil {
		if err = w.watch(ctx, s); apierrors.IsForbidden(err) {
			err = &apply.DeniedError{Err: err}
		}
	}
	if err != nil {
		return nil, err
	}
	s.AllowVerify(w.authority.asks)
	return s, nil
}

// Now is the time in the cluster.
func (w *workloads) Now() time.Time { return kube.Now(w.client) }

// Waiting names the holder of a rollout that may be gone.
func (w *workloads) Waiting(holder string) { w.printWaiting(holder) }

// records are where the rollouts of the cluster are kept.
func (c *common) records() (kube.Records, error) {
	cfg, err := c.factory.Config()
	if err != nil {
		return kube.Records{}, err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	return kube.Records{Client: client, StateNamespace: c.stateNamespace, Program: program()}, err
}

// printWaiting names the holder of a rollout that may be gone.
func (c *common) printWaiting(holder string) {
	_, _ = fmt.Fprintf(c.factory.Streams.Err, "%s holds this rollout; waiting to see whether it still runs\n", holder)
}

// openRef begins to watch a workload of any namespace.
func (c *common) openRef(ctx context.Context, ref cluster.Ref) (*session, error) {
	s, err := c.locateIn(ctx, nameOfRef(ref), ref.Namespace)
	if err != nil {
		return nil, err
	}
	return s, c.watch(ctx, s)
}

// program is this build, for the history of a record.
func program() string { return "kubectl-kruise " + version.Get().Version }

// holder names who runs this process, for others to read: the Job of --detach by its pod, a user otherwise.
func holder() string {
	if pod := os.Getenv(runner.PodVariable); pod != "" {
		return "runner@" + pod
	}
	who := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return who + "@" + host
}
