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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// rollouts are those of the shop, as programs have those of a cluster.
func (c *Cluster) rollouts() apply.Rollouts {
	return apply.Rollouts{
		Records: records{c}, By: "you", Workloads: workloads{&run{Cluster: c}},
	}
}

// workloads are those of the shop.
type workloads struct{ *run }

// Open returns one of them.
func (w workloads) Open(_ context.Context, ref cluster.Ref) (apply.Workload, error) {
	return &run{Cluster: w.Cluster, ref: ref}, nil
}

// Waiting tells no one.
func (workloads) Waiting(string) {}

// records are the rollouts of the shop: how far they have come is kept by the simulator,
// and their plans by the runs.
type records struct{ shop *Cluster }

var _ apply.Records = records{}

// Load is [apply.Records].
func (r records) Load(_ context.Context, ref cluster.Ref) (plan.Record, error) {
	r.shop.mu.Lock()
	defer r.shop.mu.Unlock()
	return r.shop.store.record(ref)
}

// List is [apply.Records].
func (r records) List(_ context.Context, namespace string) (list []plan.Record, _ []apply.UnreadableRecordError, err error) {
	r.shop.mu.Lock()
	defer r.shop.mu.Unlock()
	for _, ref := range r.shop.refs {
		if r.shop.store.runs[ref] == nil || namespace != "" && ref.Namespace != namespace {
			continue
		}
		rec, err := r.shop.store.record(ref)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, rec)
	}
	return list, nil, nil
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
		err = r.shop.store.save(ctx, ref, rec.Version, rec.Progress, by, false)
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
	return r.shop.store.holder(ref), nil
}

// store has the rollouts of the shop and the runs that carry them out. It is used while the
// shop is locked.
type store struct {
	world   *simulate.World
	runs    map[cluster.Ref]*run
	records map[cluster.Ref]plan.Record
}

// record is the stored rollout of a workload.
func (s *store) record(ref cluster.Ref) (plan.Record, error) {
	rec, ok := s.records[ref]
	if !ok || s.runs[ref] == nil {
		return plan.Record{}, fmt.Errorf("%s: %w", ref.String(), plan.ErrNoRollout)
	}
	now, err := s.world.Snapshot(ref)
	rec.Progress, rec.Base, rec.Version = now.Progress, now.Base, now.Version
	return rec, err
}

// replace stores a plan in the place of the previous one, which becomes history.
func (s *store) replace(ref cluster.Ref, p plan.Plan, by string) {
	now := s.world.Now()
	next := plan.Record{Ref: ref, Plan: p, Begun: now, By: by, Times: timed(nil, p, 0, now)}
	if before, err := s.record(ref); err == nil {
		next.Past, next.Audit = before.Remember(now), before.Audit
	}
	what, detail := plan.BeginEntry(p)
	next.Audit = next.With(plan.AuditEntry{At: now, By: by, What: what, Detail: detail})
	s.records[ref] = next
}

// save stores the progress of a rollout, and what was decided.
func (s *store) save(ctx context.Context, ref cluster.Ref, since string, p plan.Progress, by string, driven bool) error {
	before, err := s.world.Snapshot(ref)
	if err != nil {
		return err
	}
	if err := s.world.Record(ctx, ref, since, p); err != nil {
		return err
	}
	if rec, ok := s.records[ref]; ok {
		rec.Progress = before.Progress
		rec = rec.Decide(p, by, "", driven, s.world.Now())
		rec.Times = timed(rec.Times, rec.Plan, p.Step, s.world.Now())
		s.records[ref] = rec
	}
	return nil
}

// holder is the executor of a workload's rollout, empty without one.
func (s *store) holder(ref cluster.Ref) string {
	if r := s.runs[ref]; r != nil && !r.over {
		return executor
	}
	return ""
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
