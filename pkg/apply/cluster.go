// Package apply drives a rollout: observe, ask plan.Next, act, record, tell. It
// decides nothing itself. What it needs of a cluster is the interface Cluster,
// which speaks only the plan's types; the simulator satisfies it as well as a
// real API server, so the same loop runs on both.
package apply

import (
	"context"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Cluster is all that a rollout needs of a cluster, its clock included. Errors
// wrap plan.ErrConflict, plan.ErrRefused, plan.ErrUnavailable, plan.ErrOtherExecutor and
// plan.ErrNotFound; any other is final.
type Cluster interface {
	// Now is the cluster's time, which may be another one than this machine's.
	Now() time.Time
	// Observe returns what is known of a workload now, with the progress of its
	// rollout. The result may be kept: it never changes.
	Observe(ctx context.Context, w cluster.Ref) (plan.Snapshot, error)
	// Await returns when anything has changed that Observe would show since the
	// snapshot of that version, or when the clock reaches until; the zero time
	// is no limit.
	Await(ctx context.Context, w cluster.Ref, since string, until time.Time) error
	// Do carries out one action. Done twice, it does no harm. When it returns,
	// Observe shows what was written.
	Do(ctx context.Context, w cluster.Ref, a plan.Action) error
	// Record keeps the progress of a rollout, provided that no other process has
	// recorded any since the snapshot of that version.
	Record(ctx context.Context, w cluster.Ref, since string, p plan.Progress) error
	// Begin puts a plan in the place of the one that was carried out so far, and
	// records that nothing of it is done. The template that the first of them
	// started from stays recorded.
	Begin(ctx context.Context, w cluster.Ref, p plan.Plan) error
}

// TimeIn is a time of this machine by the clock of a cluster; the zero time stays.
func TimeIn(c Cluster, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return c.Now().Add(time.Until(at))
}
