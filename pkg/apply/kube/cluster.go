// Package kube is the real cluster behind a rollout: it watches what plan.Next reads, and
// carries out what that decides. It is the only package through which rollouts write to a
// cluster, and it holds no rule about them.
package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
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

// DefaultStateNamespace is where rollouts of kinds without a namespace are kept, unless
// --state-namespace names another.
const DefaultStateNamespace = "kubectl-kruise"

// Options say which workload to watch, and how.
type Options struct {
	// Target is the workload that the rollout is for.
	Target Object
	// Carrier is the native object that Target was rendered into where there is no Kruise;
	// nil when Target itself is in the cluster.
	Carrier *Object
	Gates   cluster.Gates
	// GatesUnread is why they are assumed, see plan.Snapshot.
	GatesUnread string
	// StateNamespace is where the record of cluster-scoped kinds lives, such as [DefaultStateNamespace].
	StateNamespace string
	// Holder names this process and its user to others.
	Holder string
	// Program is what this process runs, with its version, for the history of a record.
	Program string
	// Lease are the times of the lease; the zero value is what every rollout has.
	Lease Lease
	// AcquireBy is when waiting for the lease of another process ends; nil, or the zero time, waits for as long as
	// a lease of this program may last.
	AcquireBy func() time.Time
	// Warnings is where what could not be read and is not needed is written, a line each; it may be nil.
	Warnings io.Writer
	// Manager owns the fields of the workload that are written; "" is [FieldManager].
	Manager string
	// HelperImage is what pods run that only pull another image, where there is no
	// Kruise; empty for the default.
	HelperImage string
	// VerifyPermissions are the permissions of verify steps on this machine: without them no command of
	// a plan is run.
	VerifyPermissions verify.Permissions
	// Shared holds watches that several opened workloads share; with nil the workload has
	// its own.
	Shared *Shared
}

// Cluster is one workload in a real cluster, with its rollout. It satisfies
// apply.Workload: each of its parts does one thing.
type Cluster struct {
	*connection
	observer  *observer
	lazy      *lazyMirrors
	record    *watchedRecord
	lease     *leaseHolder
	writer    *writer
	puller    *puller
	restarter *restarter
	verifier  *verifier
	announcer *announcer
}

// Open begins to watch a workload and all that belongs to it. It returns when all of
// it has been seen once; a workload that is not there is [plan.ErrNotFound]. Close ends the
// watches.
func Open(ctx context.Context, cfg *rest.Config, o Options) (*Cluster, error) {
	conn, err := connect(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	c := newCluster(conn)
	c.announcer.start()
	if err := c.follow(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// newCluster puts the parts together; nothing is watched yet.
func newCluster(conn *connection) *Cluster {
	o, rec, lease := &observer{connection: conn}, newRecord(conn), &leaseHolder{connection: conn}
	steps := &stepObjects{connection: conn, observer: o, record: rec, lazy: newLazyMirrors(conn)}
	w := &writer{connection: conn, observer: o, lease: lease}
	return &Cluster{
		connection: conn, observer: o, lazy: steps.lazy, record: rec, lease: lease, writer: w,
		puller:    newPuller(steps),
		restarter: &restarter{stepObjects: steps, writer: w},
		verifier:  &verifier{stepObjects: steps, results: verifyResults{changes: conn.changes}},
		announcer: &announcer{connection: conn, observer: o},
	}
}

// follow begins to watch the workload with its record, and what the present step of a
// rollout reads: what was requested before is found again.
func (c *Cluster) follow() error {
	if err := c.observer.start(); err != nil {
		return err
	}
	if err := c.record.follow(); err != nil {
		return err
	}
	rec, err := c.record.current()
	if step := rec.Present(); err == nil && step != nil {
		c.lazy.started.Store(step.Kind, true)
		return c.lazy.startFor(step)
	}
	return err
}

// Close ends the watches.
func (c *Cluster) Close() {
	c.announcer.stop()
	c.cancel(errClosed)
}

var errClosed = errors.New("closed")

// Await returns when something has changed since the snapshot of that version, or at
// a time; zero is no limit.
func (c *Cluster) Await(ctx context.Context, _ cluster.Ref, since string, until time.Time) error {
	return c.await(ctx, since, until)
}

// Observe returns what is known of the workload now.
func (c *Cluster) Observe(ctx context.Context, _ cluster.Ref) (plan.Snapshot, error) {
	if ctx.Err() != nil {
		return plan.Snapshot{}, context.Cause(ctx)
	}
	s, rec, err := c.snapshot()
	if err == nil && c.record.isLost(rec) {
		// It is deleted with the workload, and one watch may be ahead of the other.
		if err = c.refreshUntilAnswered(ctx); err == nil {
			s, rec, err = c.snapshot()
		}
	}
	if err != nil {
		return s, err
	}
	return s, c.record.noteShown(s, rec)
}

// refreshUntilAnswered reads the record and the workload again, as soon as the server answers.
func (c *Cluster) refreshUntilAnswered(ctx context.Context) error {
	for n := 1; ; n++ {
		err := c.reread(ctx, false)
		if err == nil || !isTemporary(err) {
			return err
		}
		if err := c.changes.pause(ctx, backoff(n)); err != nil {
			return err
		}
	}
}

// snapshot puts together what the mirrors show, with the record among it. A workload
// that is gone makes a snapshot without it.
func (c *Cluster) snapshot() (plan.Snapshot, plan.Record, error) {
	s, w, err := c.observer.beginSnapshot()
	if err != nil {
		return s, plan.Record{}, err
	}
	rec, err := c.record.current()
	s.Progress, s.Base = rec.Progress, rec.Base
	if err != nil || w == nil {
		return s, rec, err
	}
	if err := c.observer.fill(&s, w); err != nil {
		return s, rec, err
	}
	return s, rec, c.fillStepState(&s, rec)
}

// fillStepState adds to a snapshot the state of what the present step has requested, and
// the results of checks.
func (c *Cluster) fillStepState(s *plan.Snapshot, rec plan.Record) error {
	s.Verified = c.verifier.results.all()
	step := rec.Present()
	if step == nil {
		return nil
	}
	m := stepIDOf(c.opt.Target.Ref, rec.Progress)
	c.lazy.startLater(step)
	switch {
	case step.Pull != nil:
		return c.puller.fillState(s, m, step.Pull)
	case step.Containers != nil:
		return c.restarter.fillResults(s, m, step)
	}
	return nil
}

// Resume returns the recorded rollout, to be carried out from its present step: from now
// on another one in its place is an error that wraps plan.ErrOtherExecutor. The caller holds
// the lease. The error wraps plan.ErrNoRollout without one.
func (c *Cluster) Resume() (plan.Record, error) {
	rec, err := c.Rollout()
	if err == nil {
		c.record.pin(rec)
	}
	return rec, err
}

// Rollout is the record of the workload's rollout as it is now; the error wraps
// plan.ErrNoRollout without one.
func (c *Cluster) Rollout() (plan.Record, error) {
	rec, err := c.record.current()
	if err == nil && rec.Version == "" {
		return rec, fmt.Errorf("%s: %w", c.opt.Target.Ref, plan.ErrNoRollout)
	}
	return rec, err
}

// AllowVerify gives verify steps permissions on this machine, before a rollout is carried out.
func (c *Cluster) AllowVerify(may verify.Permissions) { c.opt.VerifyPermissions = may }

// Events begins to watch the events about a workload and what belongs to it, and returns
// how to read them: those there are now about one of the names. Without permission there
// are none.
func (c *Cluster) Events() (now func(names map[string]bool) []*corev1.Event, err error) {
	return c.observer.events()
}
