package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestKindOf_NoWorkload: a snapshot whose object is of no kind that is rolled out is
// asked everything without a panic, and a template put into it is an error.
func TestKindOf_NoWorkload(t *testing.T) {
	for _, obj := range []any{nil, &corev1.Pod{}} {
		w := &cluster.Workload{Object: obj}
		k := kindOf(obj)
		r := &rollout{snap: &Snapshot{Workload: w}, plan: &Plan{}}
		if k.source(nil) != nil || k.restarted(nil) != nil || k.surges() || len(k.ordering()) > 0 ||
			len(k.stepPending(r)) > 0 || len(k.rolloutPending(r)) > 0 || k.revision(r) != "" || k.carrying(r)(&cluster.Pod{}) {
			t.Errorf("%T is treated as a workload", obj)
		}
		if _, err := WithTemplate(w, map[string]any{}); err == nil {
			t.Errorf("a template was put into %T", obj)
		}
	}
}
