package standin

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// budgets runs the controller of PodUnavailableBudgets.
func (s *standIns) budgets(ctx context.Context) error {
	l := s.newLoop(s.countBudget)
	// All budgets of the namespace: which one a pod is for takes as long to find out
	// as counting does.
	nearby := func(before, after metav1.Object) []types.NamespacedName {
		var out []types.NamespacedName
		for _, key := range s.store.allOf(kruise.KindPodUnavailableBudget) {
			if key.Namespace == either(before, after).GetNamespace() {
				out = append(out, key)
			}
		}
		return out
	}
	errs := []error{l.wake(s.store.kruise[kruise.KindPodUnavailableBudget], itself)}
	for _, i := range []cache.SharedIndexInformer{
		s.store.pods, s.store.deployments, s.store.statefulSets, s.store.kruise[kruise.KindCloneSet], s.store.kruise[kruise.KindStatefulSet],
	} {
		errs = append(errs, l.wake(i, nearby))
	}
	errs = append(errs, l.wake(s.store.kruise[kruise.KindSidecarSet], func(metav1.Object, metav1.Object) []types.NamespacedName {
		return s.store.allOf(kruise.KindPodUnavailableBudget)
	}))
	l.start(ctx)
	return errors.Join(errs...)
}

// countBudget makes one pass of a budget's controller.
func (s *standIns) countBudget(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	o, b := s.store.object(kruise.KindPodUnavailableBudget, key), s.budget(key)
	if o == nil || b == nil {
		return 0, nil
	}
	pass := controller.ReconcileBudget(s.budgetView(b))
	if pass.Status != nil {
		if err := gone(s.replaceStatus(ctx, o, pass.Status)); err != nil {
			return 0, err
		}
	}
	for _, p := range pass.Relate {
		if err := s.relate(ctx, p, b.Name); err != nil {
			return 0, err
		}
	}
	return pass.RequeueAfter, nil
}

// relate writes the name of a budget onto its pod.
func (s *standIns) relate(ctx context.Context, p *cluster.Pod, budget string) error {
	_, err := s.sendPod(ctx, p, map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		kruise.RelatedBudgetAnnotation: budget, kruise.RelatedBudgetOlderAnnotation: budget,
	}}})
	return err
}
