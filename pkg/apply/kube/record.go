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

// record is the rollout's own record, watched: somebody else may promote, hold or
// abort at any time.
type record struct {
	*Records
	connection *connection
	// namespace and name are those of the ConfigMap.
	namespace, name string
	mirror          *mirror[plan.Record]

	mu sync.Mutex
	// shown is the record that the last snapshot showed, by the snapshot's version.
	shown map[string]plan.Record
	// begun is when the rollout was begun that this process drives, of the uid of the
	// object that it was begun for; zero until it drives one.
	begun time.Time
	of    string
}

func newRecord(c *connection) *record {
	r := &record{Records: &Records{c.core, c.opt.StateNamespace, c.opt.Program}, connection: c, shown: map[string]plan.Record{}}
	r.namespace, r.name = r.where(c.opt.Target.Ref)
	return r
}

func (r *record) follow() (err error) {
	s := typed("the record of the rollout", &corev1.ConfigMap{}, r.Client.CoreV1().ConfigMaps(r.namespace), "").in(r.namespace)
	s.fields, s.needed = fields.OneTermEqualSelector("metadata.name", r.name).String(), true
	s.common = recordLabel // of all ConfigMaps of a namespace, only the records are shared
	r.mirror, err = keep(r.connection, s, readRecord)
	return err
}

// now is the record as it is; its zero value is none.
func (r *record) now() (plan.Record, error) {
	rec, _ := r.mirror.one(r.namespace, r.name)
	_, err := r.mirror.all()
	return rec, err
}

// show keeps which record a snapshot showed; only the last one matters. A record that
// is not the one that this process drives is an error.
func (r *record) show(s plan.Snapshot, rec plan.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.shown)
	r.shown[s.Version] = rec
	switch {
	case r.begun.IsZero() || s.Workload == nil || rec.Begun.Equal(r.begun):
		return nil
	case rec.Version == "" && r.of != "" && r.of != s.Object().UID:
		return nil // it went with the object, and that is what there is to say
	case rec.Version == "":
		return fmt.Errorf("the record of the rollout was deleted: %w", plan.ErrNotFound)
	}
	return fmt.Errorf("%w: %s has recorded another plan", plan.ErrTaken, rec.By)
}

// drives pins the record to the rollout that this process drives.
func (r *record) drives(rec plan.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.of = rec.Begun, rec.Plan.Target.Object().UID
}

// lost reports whether the record is gone of the rollout that this process drives.
func (r *record) lost(rec plan.Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.begun.IsZero() && rec.Version == ""
}

// put shows at once what was written.
func (r *record) put(rec plan.Record) {
	r.mirror.putValue(r.namespace, r.name, types.UID(rec.UID), rec.Version, rec)
}

// shownAt is the record that the snapshot of a version showed, if it may be written.
func (c *Cluster) shownAt(ctx context.Context, since string) (plan.Record, error) {
	c.record.mu.Lock()
	rec, ok := c.record.shown[since]
	c.record.mu.Unlock()
	switch {
	case !ok:
		return rec, fmt.Errorf("the record of %s: %w", c.opt.Target.Ref, plan.ErrConflict)
	case rec.Version == "":
		return rec, fmt.Errorf("the record of %s: %w", c.opt.Target.Ref, plan.ErrNotFound)
	}
	return rec, c.writer.certain(ctx)
}

// Begin puts a plan on record.
func (c *Cluster) Begin(ctx context.Context, _ cluster.Ref, p plan.Plan) error {
	seen, err := c.observer.present()
	if err != nil {
		return err
	}
	if seen.workload == nil {
		return fmt.Errorf("%s: %w", c.object().Ref, plan.ErrNotFound)
	}
	var base map[string]any
	if p.RollsBack == "" && p.Change.FromHash != p.Change.ToHash {
		base = seen.workload.Template
	}
	if err := c.lease.fenced(); err != nil {
		return err
	}
	if c.opt.Target.Namespace == "" {
		if err := c.stateNamespace(ctx); err != nil {
			return err
		}
	}
	rec, err := c.record.Begin(ctx, c.opt.Target.Ref, c.ownerReference(seen.workload), p, base, c.opt.Holder)
	if err != nil {
		return err
	}
	c.record.drives(rec)
	c.record.put(rec)
	return nil
}

// Record keeps the progress of the rollout, provided that no other process has
// recorded any since the snapshot of that version.
func (c *Cluster) Record(ctx context.Context, _ cluster.Ref, since string, p plan.Progress) error {
	r := c.record
	rec, err := c.shownAt(ctx, since)
	if err != nil {
		return err
	}
	ctx, cancel := c.lease.brief(ctx)
	defer cancel()
	rec.Times = timed(rec, p, c.Now())
	rec = rec.Decide(p, c.opt.Holder, c.opt.Program, true, c.Now())
	stored, err := r.store(ctx, rec)
	if err != nil {
		c.writer.doubts.add("the record of the rollout", c.record.reread)
		_, _ = c.writer.doubts.settle(ctx) // the next write tries again
		return told("the record of the rollout", err)
	}
	r.put(stored)
	return nil
}

// timed notes when the present step began.
func timed(rec plan.Record, p plan.Progress, now time.Time) map[string]time.Time {
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

// Decide records a person's change of the progress, provided that no other process has
// recorded any since the snapshot of that version.
func (c *Cluster) Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error) {
	shown, err := c.shownAt(ctx, since)
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
	c.record.put(stored)
	return stored, nil
}

// reread reads the record as it is now.
func (r *record) reread(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, err := r.Client.CoreV1().ConfigMaps(r.namespace).Get(ctx, r.name, metav1.GetOptions{})
	return seenAgain(r.mirror, r.namespace, r.name, got, err)
}
