package rollout

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestOpen_ReportsADeletedWorkload: a workload may have gone between the plan and the rollout, also with its
// namespace; that is an error, so that the caller can end in order.
func TestOpen_ReportsADeletedWorkload(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	for _, namespace := range []string{b.namespace, "nowhere"} {
		target := b.object
		target.Name, target.Namespace = "gone", namespace
		c, err := kube.Open(t.Context(), b.Config(), kube.Options{Target: target, Gates: cluster.DefaultGates()})
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, plan.ErrNotFound) {
			t.Errorf("in %s: %v", namespace, err)
		}
	}
}
