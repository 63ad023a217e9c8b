package session

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Session is one workload of a cluster, watched.
type Session struct {
	*kube.Cluster
	// Object is what is in the cluster, target what was asked for: they differ where
	// there is no Kruise.
	Object  *resource.Resource
	Target  kube.Object
	carrier *kube.Object
	// Parent is the UnitedDeployment that the workload is a subset of; nil for none.
	Parent *parent
	// RolledOutAsWhole indicates that the caller rolls out all subsets of that one, and ends the rollout of the
	// whole itself.
	RolledOutAsWhole bool
}

// ClusterFlags are those of all verbs that reach the cluster.
type ClusterFlags struct {
	StateNamespace string
	// Manager owns the fields that are written, "" is the default.
	Manager string
	// Authority is what this person allows.
	Authority Authority
}

// Client is how verbs reach the cluster: it opens workloads, and has the records of their rollouts.
type Client struct {
	*ClusterFlags

	Factory *factory.Factory
	// GateReader asks once for the feature gates of Kruise in the cluster; gateFlags say which of them differ
	// from what it reports, nil for none.
	GateReader *installation.GateReader
	gateFlags  *installation.GateFlags
	// Watches are those that workloads have in common.
	Watches *watches
}

// NewClient returns one that shares no watches, for the cluster of a factory.
func NewClient(f *factory.Factory) *Client {
	return &Client{ClusterFlags: &ClusterFlags{}, Factory: f, GateReader: &installation.GateReader{}, Watches: &watches{}}
}

// WithGates is the same for a verb that has flags for feature gates.
func (c *Client) WithGates(flags *installation.GateFlags) *Client {
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

// Locate finds the workload that a name means.
func (c *Client) Locate(ctx context.Context, name resourcearg.Name) (*Session, error) {
	namespace, err := c.Factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	return c.LocateIn(ctx, name, namespace)
}

// LocateIn is [Client.Locate] in a namespace.
func (c *Client) LocateIn(ctx context.Context, name resourcearg.Name, namespace string) (*Session, error) {
	client, err := c.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	found, err := clusterread.FindWorkload(ctx, client, name, namespace)
	if err != nil {
		return nil, err
	}
	s := Located(found, name)
	s.Parent, err = parentOf(ctx, client, found)
	return s, err
}

// Located is what was found under a name: the workload, or what it was rendered into.
func Located(found *resource.Resource, name resourcearg.Name) *Session {
	s := &Session{Object: found, Target: ObjectOf(found)}
	if !name.Means(found.Group(), found.Kind(), found.Name()) {
		carrier := s.Target
		s.carrier = &carrier
		s.Target.Ref = cluster.Ref{Group: name.Kinds[0].Group, Kind: name.Kinds[0].Kind, Namespace: found.Namespace(), Name: name.Name}
	}
	return s
}

// ObjectOf names an object and how it is served. An Advanced StatefulSet is always
// written in v1beta1: v1alpha1 loses fields (docs/kruise/workloads.md#cloneset-in-two-versions).
func ObjectOf(r *resource.Resource) kube.Object {
	kind := schema.GroupKind{Group: r.Group(), Kind: r.Kind()}
	version, _ := schema.ParseGroupVersion(r.APIVersion())
	return kube.Object{
		Ref:      cluster.Ref{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()},
		Resource: version.WithResource(resourcearg.Plural(kind)),
	}
}

// Open begins to watch.
func (c *Client) Open(ctx context.Context, name resourcearg.Name) (*Session, error) {
	s, err := c.Locate(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, c.Watch(ctx, s)
}

// Watch begins to watch what was located.
func (c *Client) Watch(ctx context.Context, s *Session) error {
	cfg, err := c.Factory.Config()
	if err != nil {
		return err
	}
	gates, unread := c.Gates(ctx, cfg)
	s.Cluster, err = kube.Open(ctx, cfg, kube.Options{
		Target: s.Target, Carrier: s.carrier, Gates: gates, GatesUnread: unread, StateNamespace: c.StateNamespace, Holder: Holder(), Program: program(), Manager: c.Manager, Shared: c.Watches.shared, AcquireBy: c.Factory.Deadline,
		Warnings: c.Factory.Streams.Err,
	})
	return err
}

// Gates are those of the release of Kruise that the cluster has; unread is why they are assumed.
func (c *Client) Gates(ctx context.Context, cfg *rest.Config) (gates cluster.Gates, unread string) {
	var flags installation.GateFlags
	if c.gateFlags != nil {
		flags = *c.gateFlags
	}
	set, unread, err := c.GateReader.Live(ctx, cfg, flags)
	if err != nil {
		return cluster.DefaultGates(), ""
	}
	return set.Gates, unread
}

var _ apply.Workload = (*Session)(nil)

// Rollouts are those of the cluster.
func (c *Client) Rollouts() (apply.Rollouts, error) { return c.rolloutsOf(nil) }

// rolloutsOf are those of the cluster. known are workloads that were found already, and may be open.
func (c *Client) rolloutsOf(known map[cluster.Ref]*Session) (apply.Rollouts, error) {
	records, err := c.Records()
	if err != nil {
		return apply.Rollouts{}, err
	}
	return apply.Rollouts{
		Records: records, By: Holder(), Approvals: c.Approvals(),
		Workloads: &workloads{Client: c, client: records.Client, known: known},
	}, nil
}

// workloads are opened for those who act on rollouts and carry them out.
type workloads struct {
	*Client

	client kubernetes.Interface
	mu     sync.Mutex
	// known are workloads that were found already, and may be open: each is handed out once, since its
	// user closes it.
	known map[cluster.Ref]*Session
}

// Open begins to watch a workload. Who may not even do that may not drive its rollout.
func (w *workloads) Open(ctx context.Context, ref cluster.Ref) (_ apply.Workload, err error) {
	w.mu.Lock()
	s := w.known[ref]
	delete(w.known, ref)
	w.mu.Unlock()
	if s == nil {
		s, err = w.LocateRef(ctx, ref)
	}
	if err == nil && s.Cluster == nil {
		if err = w.Watch(ctx, s); apierrors.IsForbidden(err) {
			err = &apply.DeniedError{Err: err}
		}
	}
	if err != nil {
		return nil, err
	}
	s.AllowVerify(w.Authority.Asks)
	return s, nil
}

// Now is the time in the cluster.
func (w *workloads) Now() time.Time { return kube.Now(w.client) }

// Waiting names the holder of a rollout that may be gone.
func (w *workloads) Waiting(holder string) { w.PrintWaiting(holder) }

// Records are where the rollouts of the cluster are kept.
func (c *Client) Records() (kube.Records, error) {
	cfg, err := c.Factory.Config()
	if err != nil {
		return kube.Records{}, err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	return kube.Records{Client: client, StateNamespace: c.StateNamespace, Program: program()}, err
}

// PrintWaiting names the holder of a rollout that may be gone.
func (c *Client) PrintWaiting(holder string) {
	_, _ = fmt.Fprintf(c.Factory.Streams.Err, "%s holds this rollout; waiting to see whether it still runs\n", holder)
}

// LocateRef finds a workload of any namespace.
func (c *Client) LocateRef(ctx context.Context, ref cluster.Ref) (*Session, error) {
	return c.LocateIn(ctx, NameOfRef(ref), ref.Namespace)
}

// OpenRef begins to watch it, too.
func (c *Client) OpenRef(ctx context.Context, ref cluster.Ref) (*Session, error) {
	s, err := c.LocateRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	return s, c.Watch(ctx, s)
}

// program is this build, for the history of a record.
func program() string { return "kubectl-kruise " + version.Get().Version }

// Holder names who runs this process, for others to read: the Job of --detach by its pod, a user otherwise.
func Holder() string {
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

// NameOfRef is a workload as the command line names it.
func NameOfRef(ref cluster.Ref) resourcearg.Name {
	return resourcearg.NameOf(schema.GroupKind{Group: ref.Group, Kind: ref.Kind}, ref.Name)
}

// Source is where a workload is, or the one of Kruise that it was rendered from.
func (c *Client) Source(ctx context.Context, name resourcearg.Name) (*Session, error) {
	s, err := c.Locate(ctx, name)
	if err != nil {
		return nil, err
	}
	if source, ok := SourceOf(s.Object); ok && s.Target.Kind != "Pod" {
		if same, err := c.Locate(ctx, source); err == nil && same.Object.ID() == s.Object.ID() {
			return same, nil
		}
	}
	return s, nil
}

// SourceOf names the Kruise workload that a native one was rendered from.
func SourceOf(r *resource.Resource) (resourcearg.Name, bool) {
	kind, of, ok := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
	if !ok || r.Annotation(kruise.StrategyAnnotation) == "" {
		return resourcearg.Name{}, false
	}
	name, err := resourcearg.Parse(kind + "." + kruise.Group + "/" + of)
	return name, err == nil
}

// Clientset returns the client of the typed API.
func (c *Client) Clientset() (kubernetes.Interface, error) {
	cfg, err := c.Factory.Config()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(rest.CopyConfig(cfg))
}

// Share has the workloads that are opened share their watches until the function that it
// returns is called.
func (c *Client) Share(ctx context.Context) (end func(), err error) {
	cfg, err := c.Factory.Config()
	if err != nil {
		return nil, err
	}
	shared, err := kube.OpenShared(ctx, cfg)
	if err != nil {
		return nil, err
	}
	*c.Watches = watches{shared, map[string]map[cluster.Ref]*release.Rollout{}}
	return func() {
		*c.Watches = watches{}
		shared.Close()
	}, nil
}

// GroupRecords are the groups of the cluster.
func (c *Client) GroupRecords() *kube.Groups {
	return kube.NewGroups(c.Watches.shared, kube.Options{Holder: Holder(), StateNamespace: c.StateNamespace, Program: program(), AcquireBy: c.Factory.Deadline})
}

// Groups carry groups out. opened are workloads that are open already.
func (c *Client) Groups(a apply.Approvals, opened map[cluster.Ref]*Session) (apply.Groups, error) {
	r, err := c.rolloutsOf(opened)
	r.Approvals = a
	return apply.Groups{Rollouts: r, Records: c.GroupRecords()}, err
}
