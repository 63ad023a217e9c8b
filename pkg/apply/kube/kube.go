// Package kube is the real cluster behind a rollout: it watches what plan.Next
// looks at, and carries out what it decides. It is the only package through which
// rollouts write to a cluster, and it holds no rule about them.
package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/ask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FieldManager is the name under which rollouts write.
const FieldManager = "kubectl-kruise"

// Object is one workload and how the cluster serves it.
type Object struct {
	cluster.Ref
	// Resource is its group, version and plural.
	Resource schema.GroupVersionResource
}

// Options say what to look at.
type Options struct {
	// Target is the workload that the rollout is for.
	Target Object
	// Carrier is the native object that stands for Target where there is no Kruise;
	// nil when Target itself is in the cluster.
	Carrier *Object
	Gates   cluster.Gates
	// GatesUnread is why they are assumed, see plan.Snapshot.
	GatesUnread string
	// StateNamespace is where the record of cluster-scoped kinds lives.
	StateNamespace string
	// Holder names this process and the person behind it, for others to read.
	Holder string
	// Program is what this process runs, with its version, for the history of a record.
	Program string
	// Lease are the times of the lease; the zero value is what every rollout has.
	Lease Lease
	// Warn is told what could not be read and is done without; nil is nobody.
	Warn func(text string)
	// Manager owns the fields of the workload that are written; "" is [FieldManager].
	Manager string
	// HelperImage is what pods run that only pull another image, where there is no
	// Kruise; empty for the default.
	HelperImage string
	// Asks are the permissions of verify steps on this machine: without them no command
	// is run, whatever the plan holds.
	Asks ask.Permissions
	// Shared has the watches shared with other workloads that are opened; nil has the
	// workload watched by itself.
	Shared *Shared
}

// Cluster is one workload in a real cluster. It satisfies apply.Cluster.
type Cluster struct {
	opt     Options
	core    kubernetes.Interface
	dynamic dynamic.Interface
	config  *rest.Config
	// ctx ends the watches.
	ctx    context.Context //nolint:containedctx // watches live as long as the Cluster
	cancel context.CancelCauseFunc
	bell   *bell
	views
	late
	answers answers
	record  *record
	hold    held
	doubts  doubts
	flights flights

	announcer announcer
}

// requests per second and at once: the server's own priority and fairness decides
// what is too much.
const (
	requests      = 50
	requestsBurst = 300
)

// Open begins to watch a workload and all that belongs to it. It returns when all of
// it has been seen once; a workload that is not there is [plan.ErrNotFound]. Close ends the
// watches.
func Open(ctx context.Context, cfg *rest.Config, o Options) (*Cluster, error) {
	c, err := connect(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	c.startAnnouncer()
	if err := c.look(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

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

// Close ends the watches.
func (c *Cluster) Close() {
	c.announcer.stop.Do(c.stopAnnouncer)
	c.cancel(errClosed)
}

var errClosed = errors.New("closed")

// Now is the time of this machine: the server tells no better one without being
// asked.
func (c *Cluster) Now() time.Time { return time.Now() }

// Await returns when something has changed since the snapshot of that version, or at
// a time; zero is no limit. What happens together is seen together.
func (c *Cluster) Await(ctx context.Context, _ cluster.Ref, since string, until time.Time) error {
	if err := c.bell.wait(ctx, since, until); err != nil {
		return err
	}
	return c.bell.settle(ctx, together)
}

// together is how long after a change further ones are waited for: a controller
// writes many pods in a row.
const together = 20 * time.Millisecond

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

// Observe returns what is known of the workload now.
func (c *Cluster) Observe(ctx context.Context, _ cluster.Ref) (plan.Snapshot, error) {
	if ctx.Err() != nil {
		return plan.Snapshot{}, context.Cause(ctx)
	}
	s, rec, err := c.assemble()
	if err == nil && c.record.lost(rec) {
		// It goes away with the workload, and one watch may be ahead of the other.
		if err = c.lookAgain(ctx); err == nil {
			s, rec, err = c.assemble()
		}
	}
	if err != nil {
		return s, err
	}
	return s, c.record.show(s, rec)
}
