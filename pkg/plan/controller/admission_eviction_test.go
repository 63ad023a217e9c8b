package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// evictions is a PodDisruptionBudget with its status up to date.
func evictions(spec policyv1.PodDisruptionBudgetSpec, pods []*cluster.Pod, of Workloads) *EvictionView {
	spec.Selector = selectWeb
	v := &EvictionView{Now: labStart, Pods: pods, Workloads: of, Budget: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-pdb", Generation: 2}, Spec: spec,
	}}
	v.count()
	return v
}

func (v *EvictionView) count() time.Duration {
	status, again := ReconcileEvictions(v)
	if status != nil {
		v.Budget = v.Budget.DeepCopy()
		v.Budget.Status = *status
	}
	return again
}

func (v *EvictionView) ask(p *cluster.Pod) bool {
	verdict, status := v.Evict(p)
	if status != nil {
		v.Budget = v.Budget.DeepCopy()
		v.Budget.Status = *status
	}
	return verdict.Allowed
}

func TestReconcileEvictions(t *testing.T) {
	one, half := intstr.FromInt32(1), intstr.FromString("50%")
	for _, c := range []struct {
		name                               string
		spec                               policyv1.PodDisruptionBudgetSpec
		of                                 Workloads
		expected, desired, healthy, allows int32
	}{
		{"maxUnavailable", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, cloneSetOf(4), 4, 3, 4, 1},
		{"half", policyv1.PodDisruptionBudgetSpec{MinAvailable: &half}, cloneSetOf(4), 4, 2, 4, 2},
		{"a number is of what is there", policyv1.PodDisruptionBudgetSpec{MinAvailable: &one}, cloneSetOf(9), 4, 1, 4, 3},
		{"no owner that counts", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, daemonSetOf, 0, 0, 4, 0},
		{"no owner known", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, nil, 0, 0, 4, 0},
	} {
		s := evictions(c.spec, webPods(4), c.of).Budget.Status
		want := policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 2, ExpectedPods: c.expected, DesiredHealthy: c.desired, CurrentHealthy: c.healthy, DisruptionsAllowed: c.allows,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func TestEvictionPermits(t *testing.T) {
	one := intstr.FromInt32(1)
	pods := webPods(4)
	v := evictions(policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}, pods, cloneSetOf(4))
	if !v.ask(pods[0]) || v.ask(pods[1]) {
		t.Error("not one permit")
	}
	// The pod does not go: its permit lasts two minutes.
	v.Now = labStart.Add(time.Minute)
	if again := v.count(); again != time.Minute || v.ask(pods[1]) {
		t.Errorf("again %v", again)
	}
	v.Now = labStart.Add(2 * time.Minute)
	if again := v.count(); again != 0 || !v.ask(pods[1]) {
		t.Errorf("again %v, %+v", again, v.Budget.Status)
	}
	// The pod goes: its record does, too.
	gone := *pods[1]
	gone.Deleting = true
	v.Pods = []*cluster.Pod{pods[0], &gone, pods[2], pods[3]}
	if again := v.count(); again != 0 || len(v.Budget.Status.DisruptedPods) != 0 || v.Budget.Status.CurrentHealthy != 3 {
		t.Errorf("again %v, %+v", again, v.Budget.Status)
	}
}
