package standin

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// readiness opens the gate KruisePodReady of every new pod
// (docs/kruise/workloads.md#what-is-added-to-pods).
func (s *standIns) readiness(ctx context.Context) error {
	l := s.newLoop(s.openGate)
	l.start(ctx)
	return l.wake(s.store.pods, func(before, after metav1.Object) []types.NamespacedName {
		if p, ok := after.(*corev1.Pod); ok && before == nil && p != nil {
			return itself(nil, after)
		}
		return nil
	})
}

func (s *standIns) openGate(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	now := s.store.pod(key.Namespace, key.Name)
	if now == nil {
		return 0, nil
	}
	p := cluster.ReadPod(now)
	if _, set := p.Condition(kruise.KruisePodReady); set || !slices.Contains(p.ReadinessGates, kruise.KruisePodReady) {
		return 0, nil
	}
	yes := cluster.SetTo(kruise.KruisePodReady, corev1.ConditionTrue, "", "")
	_, err := s.sendPod(ctx, p, plan.ConditionsPatch(p, []cluster.Condition{yes}, time.Now()), "status")
	return 0, err
}
