package world

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/evidence"
)

// Witness is a [Source] that can compare the new pods of a rollout with the old ones.
type Witness interface {
	// Evidence compares them; parts that cannot be read in time, or at all, are named in
	// the answer. The error is for a workload that cannot be found.
	Evidence(ctx context.Context, ref cluster.Ref) (evidence.Comparison, error)
}
