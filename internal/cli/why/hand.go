package why

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// hand finds out who else drives the workload.
func (o *options) hand(ctx context.Context, q *diagnose.Question, res *clusterread.WorkloadState) {
	var err error
	if q.Hand, err = clusterread.FindHand(ctx, o.dynamic, res.Ref, res.Object); err != nil {
		o.warn("not considered: Kruise Rollout: %v", err)
	}
}
