package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// question reads all that is known of a workload, and how its rollout stands.
func (o *options) question(ctx context.Context, name resourcearg.Name, namespace string) (diagnose.Question, error) {
	q := diagnose.Question{Name: name.String(), Now: time.Now()}
	res, err := clusterread.ReadWorkload(ctx, o.dynamic, name, namespace)
	if err != nil {
		return q, err
	}
	for _, s := range res.Skipped {
		o.warn("not considered: %s", s)
	}
	if q.Snapshot, err = o.snapshot(ctx, res, q.Now); err != nil {
		return q, err
	}
	o.recorded(ctx, &q)
	o.hand(ctx, &q, res)
	return q, nil
}

// snapshot is what is known of the workload, with the feature gates that Kruise has.
func (o *options) snapshot(ctx context.Context, res *clusterread.WorkloadState, at time.Time) (plan.Snapshot, error) {
	cfg, err := o.factory.Config()
	if err != nil {
		return plan.Snapshot{}, err
	}
	set, unread, err := installation.LiveGates(ctx, cfg, installation.GateFlags{})
	if err != nil {
		return plan.Snapshot{}, err
	}
	s, err := res.Snapshot(set.Gates, at)
	s.GatesUnread = unread
	return s, err
}

// recorded takes over the rollout on record; without one, or after it, the spec says
// what is to become of the pods.
func (o *options) recorded(ctx context.Context, q *diagnose.Question) {
	records := kube.Records{Client: o.core, StateNamespace: o.stateNamespace}
	ref := q.Snapshot.Workload.Ref
	rec, err := records.Load(ctx, ref)
	switch {
	case err != nil && !errors.Is(err, plan.ErrNoRollout):
		o.warn("the recorded rollout is not considered: %v", err)
		fallthrough
	case err != nil, !rec.Progress.Finished.IsZero():
		q.Stand()
		return
	}
	q.Begun, q.Plan = true, rec.Plan
	q.Snapshot.Progress, q.Snapshot.Base = rec.Progress, rec.Base
	if q.Holder, err = records.Holder(ctx, ref); err != nil {
		q.Holder = "an executor that you may not read"
	}
}

func (o *options) warn(format string, args ...any) {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: "+format+"\n", args...)
}
