package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// rollouts are those of the shop, as programs have those of a cluster.
func (c *Cluster) rollouts() apply.Rollouts {
	return apply.Rollouts{
		Records: records{c}, By: "you", Now: (&run{Cluster: c}).Now,
		Open: func(_ context.Context, ref cluster.Ref) (apply.Workload, error) {
			return &run{Cluster: c, ref: ref}, nil
		},
	}
}

// records are the rollouts of the shop: how far they have come is kept by the simulator,
// and their plans by the runs.
type records struct{ shop *Cluster }

var _ apply.Records = records{}

// Load is [apply.Records].
func (r records) Load(_ context.Context, ref cluster.Ref) (plan.Record, error) {
	r.shop.mu.Lock()
	defer r.shop.mu.Unlock()
	return r.shop.record(ref)
}

// List is [apply.Records].
func (r records) List(_ context.Context, namespace string) (list []plan.Record, err error) {
	r.shop.mu.Lock()
	defer r.shop.mu.Unlock()
	for _, ref := range r.shop.refs {
		if r.shop.runs[ref] == nil || namespace != "" && ref.Namespace != namespace {
			continue
		}
		rec, err := r.shop.record(ref)
		if err != nil {
			return nil, err
		}
		list = append(list, rec)
	}
	return list, nil
}

// Change is [apply.Records]. change is called without the lock: it asks for the time.
func (r records) Change(ctx context.Context, ref cluster.Ref, by string, change func(*plan.Record) error) (plan.Record, error) {
	for {
		rec, err := r.Load(ctx, ref)
		if err != nil {
			return rec, err
		}
		if err := change(&rec); err != nil {
			return rec, err
		}
		rec.By = by
		r.shop.mu.Lock()
		err = r.shop.keep(ctx, ref, rec.Version, rec.Progress, by, false)
		r.shop.mu.Unlock()
		if !errors.Is(err, plan.ErrConflict) {
			return rec, err
		}
	}
}

// Holder is [apply.Records].
func (r records) Holder(_ context.Context, ref cluster.Ref) (string, error) {
	r.shop.mu.Lock()
	defer r.shop.mu.Unlock()
	return r.shop.holder(ref), nil
}

// record is the rollout on record of a workload. The shop is locked.
func (c *Cluster) record(ref cluster.Ref) (plan.Record, error) {
	book, ok := c.books[ref]
	if !ok || c.runs[ref] == nil {
		return plan.Record{}, fmt.Errorf("%s: %w", nameOf(ref), plan.ErrNoRollout)
	}
	s, err := c.world.Snapshot(ref)
	book.Progress, book.Base, book.Version = s.Progress, s.Base, s.Version
	return book, err
}

// enter puts a plan on record in the place of the one before, which is remembered. The shop
// is locked.
func (c *Cluster) enter(ref cluster.Ref, p plan.Plan, by string) {
	now := c.world.Now()
	next := plan.Record{Ref: ref, Plan: p, Begun: now, By: by, Times: timed(nil, p, 0, now)}
	if before, err := c.record(ref); err == nil {
		next.Past, next.Audit = before.Remember(now), before.Audit
	}
	what, detail := plan.BeginEntry(p)
	next.Audit = next.Audit.With(plan.AuditEntry{At: now, By: by, What: what, Detail: detail})
	c.books[ref] = next
}

// keep records how far a rollout has come, and what was decided. The shop is locked.
func (c *Cluster) keep(ctx context.Context, ref cluster.Ref, since string, p plan.Progress, by string, driven bool) error {
	before, err := c.world.Snapshot(ref)
	if err != nil {
		return err
	}
	if err := c.world.Record(ctx, ref, since, p); err != nil {
		return err
	}
	if book, ok := c.books[ref]; ok {
		book.Progress = before.Progress
		book = book.Decide(p, by, "", driven, c.world.Now())
		book.Times = timed(book.Times, book.Plan, p.Step, c.world.Now())
		c.books[ref] = book
	}
	return nil
}

// timed notes when a step began.
func timed(times map[string]time.Time, p plan.Plan, step int, now time.Time) map[string]time.Time {
	if step >= len(p.Steps) {
		return times
	}
	name := p.Steps[step].Name
	if _, ok := times[name]; ok {
		return times
	}
	out := maps.Clone(times)
	if out == nil {
		out = map[string]time.Time{}
	}
	out[name] = now
	return out
}
