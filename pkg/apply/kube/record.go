package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// watchedRecord is the rollout's own record, watched: other users may promote, pause or
// abort it at any time.
type watchedRecord struct {
	*Records
	connection *connection
	// namespace and name are those of the ConfigMap.
	namespace, name string
	mirror          *mirror[plan.Record]

	mu sync.Mutex
	// shown is the record that the last snapshot showed, by the snapshot's version.
	shown map[string]plan.Record
	// begun is when the rollout was begun that this process carries out, uid that of its
	// workload; zero before.
	begun time.Time
	uid   string
}

func newRecord(c *connection) *watchedRecord {
	r := &watchedRecord{Records: &Records{c.core, c.opt.StateNamespace, c.opt.Program}, connection: c, shown: map[string]plan.Record{}}
	r.namespace, r.name = r.location(c.opt.Target.Ref)
	return r
}

func (r *watchedRecord) follow() (err error) {
	s := typedSource("the record of the rollout", &corev1.ConfigMap{}, r.Client.CoreV1().ConfigMaps(r.namespace), "").sharedAs(r.namespace)
	s.fields, s.required = fields.OneTermEqualSelector("metadata.name", r.name).String(), true
	s.common = recordLabel // of all ConfigMaps of a namespace, only the records are shared
	r.mirror, err = followMirror(r.connection, s, rollouts.read)
	return err
}

// current is the record as it is; its zero value is none.
func (r *watchedRecord) current() (plan.Record, error) {
	rec, _ := r.mirror.get(r.namespace, r.name)
	_, err := r.mirror.list()
	return rec, err
}

// noteShown keeps which record a snapshot showed; only the last one matters. A record that
// is not the one that this process carries out is an error.
func (r *watchedRecord) noteShown(s plan.Snapshot, rec plan.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.shown)
	r.shown[s.Version] = rec
	switch {
	case r.begun.IsZero() || s.Workload == nil || rec.Begun.Equal(r.begun):
		return nil
	case rec.Version == "" && r.uid != "" && r.uid != s.Object().UID:
		return nil // it was deleted with the workload, which the caller reports
	case rec.Version == "":
		return fmt.Errorf("the record of the rollout was deleted: %w", plan.ErrNotFound)
	}
	return fmt.Errorf("%w: %s has recorded another plan", plan.ErrOtherExecutor, rec.By)
}

// pin makes any other rollout than this an error from now on.
func (r *watchedRecord) pin(rec plan.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.uid = rec.Begun, rec.Plan.Target.Object().UID
}

// isLost reports whether the record of the rollout that this process carries out is gone.
func (r *watchedRecord) isLost(rec plan.Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.begun.IsZero() && rec.Version == ""
}

// putWritten shows at once what was written.
func (r *watchedRecord) putWritten(rec plan.Record) {
	r.mirror.putWritten(r.namespace, r.name, types.UID(rec.UID), rec.Version, rec)
}

// recordAt is the record that the snapshot of a version showed, if it may be written.
func (c *Cluster) recordAt(ctx context.Context, since string) (plan.Record, error) {
	c.record.mu.Lock()
	rec, ok := c.record.shown[since]
	c.record.mu.Unlock()
	switch {
	case !ok:
		return rec, fmt.Errorf("the record of %s: %w", c.opt.Target.Ref, plan.ErrConflict)
	case rec.Version == "":
		return rec, fmt.Errorf("the record of %s: %w", c.opt.Target.Ref, plan.ErrNotFound)
	}
	return rec, c.writer.mayWrite(ctx)
}

// Begin records a plan.
func (c *Cluster) Begin(ctx context.Context, _ cluster.Ref, p plan.Plan) error {
	seen, err := c.observer.current()
	if err != nil {
		return err
	}
	if seen.workload == nil {
		return fmt.Errorf("%s: %w", c.changedObject().Ref, plan.ErrNotFound)
	}
	var base map[string]any
	if p.RollbackReason == "" && p.Change.FromHash != p.Change.ToHash {
		base = seen.workload.Template
	}
	if err := c.lease.check(); err != nil {
		return err
	}
	if c.opt.Target.Namespace == "" {
		if err := c.createStateNamespace(ctx); err != nil {
			return err
		}
	}
	rec, err := c.record.Begin(ctx, c.opt.Target.Ref, c.ownerReference(seen.workload), p, base, c.opt.Holder)
	if err != nil {
		return err
	}
	c.record.pin(rec)
	c.record.putWritten(rec)
	return nil
}

// Record keeps the progress of the rollout, provided that no other process has
// recorded any since the snapshot of that version.
func (c *Cluster) Record(ctx context.Context, _ cluster.Ref, since string, p plan.Progress) error {
	r := c.record
	rec, err := c.recordAt(ctx, since)
	if err != nil {
		return err
	}
	ctx, cancel := c.lease.withTimeout(ctx)
	defer cancel()
	rec.Times = withStepTime(rec, p, c.Now())
	rec = rec.Decide(p, c.opt.Holder, c.opt.Program, true, c.Now())
	stored, err := r.store(ctx, rec)
	if err != nil {
		c.writer.unconfirmed.add("the record of the rollout", c.record)
		_, _ = c.writer.unconfirmed.reread(ctx) // the next write tries again
		if err = planError("the record of the rollout", err); errors.Is(err, plan.ErrNotFound) {
			return fmt.Errorf("%w: %v", plan.ErrConflict, err) //nolint:errorlint // the next look says whether the workload is gone with it
		}
		return err
	}
	r.putWritten(stored)
	return nil
}

// withStepTime notes when the present step began.
func withStepTime(rec plan.Record, p plan.Progress, now time.Time) map[string]time.Time {
	if p.Step >= len(rec.Plan.Steps) {
		return rec.Times
	}
	name := rec.Plan.Steps[p.Step].Name
	if _, ok := rec.Times[name]; ok {
		return rec.Times
	}
	out := maps.Clone(rec.Times)
	if out == nil {
		out = map[string]time.Time{}
	}
	out[name] = now.UTC().Truncate(time.Second)
	return out
}

// Decide records a user's change of the progress, provided that no other process has
// recorded any since the snapshot of that version.
func (c *Cluster) Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error) {
	shown, err := c.recordAt(ctx, since)
	if err != nil {
		return shown, err
	}
	stored, err := c.record.Change(ctx, ref, c.opt.Holder, func(now *plan.Record) error {
		if now.Version != shown.Version {
			return fmt.Errorf("the record of %s: %w", ref, plan.ErrConflict)
		}
		now.Progress = p
		return nil
	})
	if err != nil {
		if errors.Is(err, plan.ErrConflict) {
			err = errors.Join(err, c.record.reread(ctx))
		}
		return shown, err
	}
	c.record.putWritten(stored)
	return stored, nil
}

// reread reads the record as it is now.
func (r *watchedRecord) reread(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := r.Client.CoreV1().ConfigMaps(r.namespace).Get(ctx, r.name, metav1.GetOptions{})
	return putAnswer(r.mirror, r.namespace, r.name, got, err)
}
