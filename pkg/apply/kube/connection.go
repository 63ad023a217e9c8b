package kube

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// connection is what the parts of a Cluster share: its options, the clients, the context
// that ends the watches, and the signal of changes.
type connection struct {
	opt     Options
	core    kubernetes.Interface
	dynamic dynamic.Interface
	config  *rest.Config
	// ctx ends the watches.
	ctx    context.Context //nolint:containedctx // watches live as long as the connection
	cancel context.CancelCauseFunc
	bell   *bell
}

// connect makes the clients, or has those of the options' Shared.
func connect(ctx context.Context, cfg *rest.Config, o Options) (*connection, error) {
	c, s := &connection{opt: o, bell: newBell()}, o.Shared
	if s == nil {
		var err error
		if s, err = newClients(cfg); err != nil {
			return nil, err
		}
	}
	c.config, c.dynamic, c.core = s.config, s.dynamic, s.core
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c, nil
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

// Now is the time of this machine: the server tells no better one without being
// asked.
func (c *connection) Now() time.Time { return time.Now() }

// await returns when something has changed since a version, or at a time; zero is no
// limit. What happens together is seen together.
func (c *connection) await(ctx context.Context, since string, until time.Time) error {
	if err := c.bell.wait(ctx, since, until); err != nil {
		return err
	}
	return c.bell.settle(ctx, together)
}

// together is how long after a change further ones are waited for: a controller
// writes many pods in a row.
const together = 20 * time.Millisecond

// object is what patches go to.
func (c *connection) object() *Object {
	if c.opt.Carrier != nil {
		return c.opt.Carrier
	}
	return &c.opt.Target
}

func (c *connection) warn(format string, args ...any) {
	if c.opt.Warn != nil {
		c.opt.Warn(fmt.Sprintf(format, args...))
	}
}

// alone reports whether the rollout is for one pod that no workload of ours owns: of a
// Job, or of nobody. Only its containers can be restarted.
func (c *connection) alone() bool { return c.opt.Target.Kind == "Pod" }

// untyped is a source of objects of any kind.
func (c *connection) untyped(r schema.GroupVersionResource, namespace string) source {
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
