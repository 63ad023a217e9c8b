package kube

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	ctx     context.Context //nolint:containedctx // watches live as long as the connection
	cancel  context.CancelCauseFunc
	changes *changeSignal
}

// connect makes the clients, or has those of the options' Shared.
func connect(ctx context.Context, cfg *rest.Config, o Options) (*connection, error) {
	c, s := &connection{opt: o, changes: newChangeSignal()}, o.Shared
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

// withProtobuf is a configuration for Kubernetes' own types: in protobuf thousands of pods
// cost a fraction of what JSON costs.
func withProtobuf(cfg *rest.Config) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	out.ContentType = "application/vnd.kubernetes.protobuf"
	return out
}

// Now is the time in the cluster.
func (c *connection) Now() time.Time { return Now(c.core) }

// local is a time in the cluster by the clock of this machine.
func (c *connection) local(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return time.Now().Add(at.Sub(c.Now()))
}

// await returns when something has changed since a version, or at a time; zero is no
// limit. Changes that follow each other closely count as one.
func (c *connection) await(ctx context.Context, since string, until time.Time) error {
	if err := c.changes.wait(ctx, since, c.local(until)); err != nil {
		return err
	}
	return c.changes.pause(ctx, settleTime)
}

// settleTime is how long after a change further ones are waited for: a controller
// writes many pods in a row.
const settleTime = 20 * time.Millisecond

// changedObject is the object that is patched.
func (c *connection) changedObject() *Object {
	if c.opt.Carrier != nil {
		return c.opt.Carrier
	}
	return &c.opt.Target
}

func (c *connection) warn(format string, args ...any) {
	if c.opt.Warnings != nil {
		_, _ = fmt.Fprintf(c.opt.Warnings, "warning: "+format+"\n", args...)
	}
}

// untypedSource is a source of objects of any kind.
func (c *connection) untypedSource(r schema.GroupVersionResource, namespace string) source {
	return source{
		description: r.Resource, example: &unstructured.Unstructured{}, shared: c.opt.Shared, key: r.String() + " in " + namespace,
		client: listWatch(c.dynamic.Resource(r).Namespace(namespace)), resource: r,
	}
}

// changeSignal counts changes and wakes all goroutines that wait for one.
type changeSignal struct {
	mu    sync.Mutex
	count uint64
	wake  chan struct{}
}

func newChangeSignal() *changeSignal { return &changeSignal{wake: make(chan struct{})} }

// broadcast counts a change and wakes all that wait.
func (b *changeSignal) broadcast() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	close(b.wake)
	b.wake = make(chan struct{})
}

// current is the present count as a version, with what is closed at the next change.
func (b *changeSignal) current() (string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.FormatUint(b.count, 36), b.wake
}

// wait returns when the version is not since any more, or at a time; zero is never.
func (b *changeSignal) wait(ctx context.Context, since string, until time.Time) error {
	var end <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		end = timer.C
	}
	for {
		version, wake := b.current()
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

// pause waits a moment.
func (b *changeSignal) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
