package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestClientLetsGo: without Kruise, a pod that was held not ready and whose template was
// taken back before its containers changed serves again.
func TestClientLetsGo(t *testing.T) {
	hook := &kruise.LifecycleHook{LabelsHandler: map[string]string{"held": "true"}, MarkPodNotReady: true}
	u := InPlace{Lifecycle: &kruise.Lifecycle{InPlaceUpdate: hook}}
	p := &cluster.Pod{
		Labels:         map[string]string{kruise.LifecycleStateLabel: string(rules.StatePreparingUpdate), "held": "true"},
		ReadinessGates: []string{kruise.KruisePodReady},
	}
	p.Conditions = []cluster.Condition{cluster.SetTo(kruise.KruisePodReady, corev1.ConditionFalse, "", `[{"userAgent":"Lifecycle","key":"preUpdateHook"}]`)}
	change, ok := u.Continue(p, rules.NodeReport{}, labStart)
	if !ok || *change.Labels[kruise.LifecycleStateLabel] != string(rules.StateNormal) {
		t.Fatalf("%+v", change)
	}
	if len(change.Conditions) != 1 || change.Conditions[0].Status != corev1.ConditionTrue {
		t.Errorf("still not ready: %+v", change.Conditions)
	}
}
