package rollout

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
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

// common are the flags of all verbs, and what they make clients from.
type common struct {
	factory        *factory.Factory
	stateNamespace string
	// reader asks once for the feature gates of Kruise in the cluster; flags say which of them differ
	// from what it reports.
	reader *installation.GateReader
	flags  installation.GateFlags
	// manager owns the fields that are written, "" is the default.
	manager string
	// authority is what this person allows.
	authority authority
	// as names this process to others; "" is the person and the machine.
	as string
	// shared are the watches that workloads have in common which are opened; nil has each
	// watched by itself.
	shared *kube.Shared
	// releases are the Kruise Rollouts of each namespace that was asked for, while watches
	// are shared.
	releases map[string]map[cluster.Ref]*release.Rollout
}

func newCommon(f *factory.Factory) *common {
	return &common{factory: f, reader: &installation.GateReader{}}
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
		Target: s.target, Carrier: s.carrier, Gates: gates, GatesUnread: unread, StateNamespace: c.stateNamespace, Holder: c.holder(), Program: program(), Manager: c.manager, Shared: c.shared, AcquireBy: c.factory.Deadline,
		Warn: func(text string) { _, _ = fmt.Fprintf(c.factory.Streams.Err, "warning: %s\n", text) },
	})
	return err
}

// gates are those of the release of Kruise that the cluster has; unread is why they are assumed.
func (c *common) gates(ctx context.Context, cfg *rest.Config) (gates cluster.Gates, unread string) {
	set, unread, err := c.reader.Live(ctx, cfg, c.flags)
	if err != nil {
		return cluster.DefaultGates(), ""
	}
	return set.Gates, unread
}

var _ apply.Workload = (*session)(nil)

// rollouts are those of the cluster.
func (c *common) rollouts() (apply.Rollouts, error) {
	records, err := c.records()
	if err != nil {
		return apply.Rollouts{}, err
	}
	return apply.Rollouts{
		Records: records, By: c.holder(), Approvals: c.approvals(),
		Open:    func(ctx context.Context, ref cluster.Ref) (apply.Workload, error) { return c.openRef(ctx, ref) },
		Waiting: c.printWaiting, Now: func() time.Time { return kube.Now(records.Client) },
	}, nil
}

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

// holder names this process, for others to read.
func (c *common) holder() string {
	if c.as != "" {
		return c.as
	}
	return holder()
}

// holder names the user of this process, for others to read.
func holder() string {
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
