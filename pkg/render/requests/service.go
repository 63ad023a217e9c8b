package requests

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// drains reports whether the pod can be taken out of service before its containers
// stop: it has the label by which Services choose it (docs/drivers.md).
func (q *recreate) drains() bool {
	_, served := q.pod.Labels[kruise.InServiceLabel]
	return served && q.unready() > 0
}

func (q *recreate) unready() int64 {
	if q.strategy.UnreadyGracePeriodSeconds == nil {
		return 0
	}
	return *q.strategy.UnreadyGracePeriodSeconds
}

// outOfService is the step before the first restart.
func (q *recreate) outOfService(s *patches.Sequence) {
	if !q.drains() {
		return
	}
	n := q.unready()
	s.Steps = append(s.Steps, patches.Step{
		Name: "out-of-service", Title: "take the pod out of its Services, and wait until requests in progress have ended",
		Patch: q.label(nil), Before: samePod(q.pod),
		After: []patches.Condition{{Text: fmt.Sprintf("%d s have passed (unreadyGracePeriodSeconds)", n), Check: fmt.Sprintf("sleep %d", n)}},
	})
}

// backInService is the step after the last one. An evicted pod has a successor that
// was never taken out.
func (q *recreate) backInService(s *patches.Sequence) {
	if !q.drains() || s.Steps[len(s.Steps)-1].Name == evict {
		return
	}
	s.Steps = append(s.Steps, patches.Step{
		Name: "in-service", Title: "put the pod back into its Services, also when a step before has failed",
		Patch: q.label(q.pod.Labels[kruise.InServiceLabel]), Before: samePod(q.pod),
	})
}

func (q *recreate) label(value any) *patches.Patch {
	labels := map[string]any{"labels": map[string]any{kruise.InServiceLabel: value}}
	return &patches.Patch{Target: targetOf(q.pod), Type: "merge", Body: map[string]any{"metadata": labels}}
}
