package demo

import (
	"context"
	"errors"
	"fmt"

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
		err = r.shop.world.Record(ctx, ref, rec.Version, rec.Progress)
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
	r := c.runs[ref]
	if r == nil {
		return plan.Record{}, fmt.Errorf("%s: %w", nameOf(ref), plan.ErrNoRollout)
	}
	s, err := c.world.Snapshot(ref)
	return plan.Record{Ref: ref, Plan: r.plan, Progress: s.Progress, Base: s.Base, Begun: r.begun, Version: s.Version}, err
}
