package kube

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// connect makes the clients.
func connect(ctx context.Context, cfg *rest.Config, o Options) (*Cluster, error) {
	c := &Cluster{opt: o, bell: newBell()}
	if err := c.clients(cfg); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.answers.changed = c.bell.ring
	c.record = newRecord(c)
	c.late = c.newLate()
	return c, nil
}

// clients are those of this workload alone, or those that it shares.
func (c *Cluster) clients(cfg *rest.Config) error {
	s := c.opt.Shared
	if s == nil {
		var err error
		if s, err = newClients(cfg); err != nil {
			return err
		}
	}
	c.config, c.dynamic, c.core = s.config, s.dynamic, s.core
	return nil
}

// requests per second and at once: the server's own priority and fairness decides
// what is too much.
const (
	requests      = 50
	requestsBurst = 300
)

// withRates is a configuration by which a rollout asks.
func withRates(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = requests, requestsBurst
	return cfg
}

// protobuf is what the types of Kubernetes itself travel in: thousands of pods cost
// a fraction of what JSON costs.
func protobuf(cfg *rest.Config) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	out.ContentType = "application/vnd.kubernetes.protobuf"
	return out
}

// object is what patches go to.
func (c *Cluster) object() *Object {
	if c.opt.Carrier != nil {
		return c.opt.Carrier
	}
	return &c.opt.Target
}

func (c *Cluster) warn(format string, args ...any) {
	if c.opt.Warn != nil {
		c.opt.Warn(fmt.Sprintf(format, args...))
	}
}

// beside is the namespace for what belongs to a rollout.
func (c *Cluster) beside() string { return cmp.Or(c.opt.Target.Namespace, c.opt.StateNamespace) }

// alone reports whether the rollout is for one pod that no workload of ours owns: of a
// Job, or of nobody. Only its containers can be restarted.
func (c *Cluster) alone() bool { return c.opt.Target.Kind == "Pod" }

// stateNamespace makes the namespace for records of kinds without one.
func (c *Cluster) stateNamespace(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.opt.StateNamespace}}
	_, err := c.core.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{FieldManager: FieldManager})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if _, get := c.core.CoreV1().Namespaces().Get(ctx, c.opt.StateNamespace, metav1.GetOptions{}); get == nil {
		return nil
	}
	return fmt.Errorf("namespace %s, where the rollout is kept: %w", c.opt.StateNamespace, err)
}

// ownerReference has the record go away with the object in the cluster.
func (c *Cluster) ownerReference(w *cluster.Workload) metav1.OwnerReference {
	o := c.object()
	return metav1.OwnerReference{APIVersion: o.Resource.GroupVersion().String(), Kind: o.Kind, Name: o.Name, UID: uidOf(w)}
}

func uidOf(w *cluster.Workload) types.UID { return types.UID(w.UID) }

// untyped is a source of objects of any kind.
func (c *Cluster) untyped(r schema.GroupVersionResource, namespace string) source {
	client := c.dynamic.Resource(r).Namespace(namespace)
	return source{
		what: r.Resource, like: &unstructured.Unstructured{}, shared: c.opt.Shared, key: r.String() + " in " + namespace,
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		watch: client.Watch,
	}
}

// bell counts changes and wakes whoever waits for one.
type bell struct {
	mu    sync.Mutex
	count uint64
	wake  chan struct{}
}

func newBell() *bell { return &bell{wake: make(chan struct{})} }

// ring notes a change.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	close(b.wake)
	b.wake = make(chan struct{})
}

// now is the present count as a version, with what is closed at the next change.
func (b *bell) now() (string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.FormatUint(b.count, 36), b.wake
}

// wait returns when the version is not since any more, or at a time; zero is never.
func (b *bell) wait(ctx context.Context, since string, until time.Time) error {
	var end <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		end = timer.C
	}
	for {
		version, wake := b.now()
		if version != since {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end:
			return nil
		case <-wake:
		}
	}
}

// settle waits a moment.
func (b *bell) settle(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
