package rollout

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// following calls see with every event of the pods of a namespace, one at a time, until
// the function that it returns is called.
func following(t *testing.T, c *testcluster.Cluster, namespace string, see func(context.Context, *corev1.Pod) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		_, err := testcluster.Await(ctx, c.Client().CoreV1().Pods(namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
			if err := see(ctx, p); what != watch.Deleted && err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			return false
		})
		if ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	return func() { cancel(); ended.Wait() }
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// opensGates opens the readiness gate of every new pod, as something has to where there
// is no Kruise; what is False stays so.
func opensGates(t *testing.T, c *testcluster.Cluster, namespace string) {
	t.Helper()
	following(t, c, namespace, func(ctx context.Context, p *corev1.Pod) error {
		if condition(p, kruise.InPlaceUpdateReady) != "" || p.DeletionTimestamp != nil {
			return nil
		}
		// Upon this very state: what is behind may have been overtaken by a drain.
		open := `{"metadata": {"uid": "` + string(p.UID) + `", "resourceVersion": "` + p.ResourceVersion + `"}, "status": {"conditions": [{"type": "InPlaceUpdateReady", "status": "True"}]}}`
		_, err := c.Client().CoreV1().Pods(namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, []byte(open), metav1.PatchOptions{}, "status")
		if apierrors.IsConflict(err) {
			return nil // the newer state comes
		}
		return err
	})
}

// TestDrainGate_IsClosedDuringARestart: no container changes while the pod's readiness gate is open; in the end
// all gates are, and no more pods were down at once than a budget lets go.
func TestDrainGate_IsClosedDuringARestart(t *testing.T) {
	t.Parallel()
	c, namespace := withoutKruise(t)
	opensGates(t, c, namespace)
	w := standIn(allAtOnce)
	w.text = strings.Replace(w.text, "spec: {containers", "spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers", 1)
	b := bedIn(t, c, namespace, w)
	b.Apply(t, namespace, renderedFrom(targetWeb))
	k := b.carried(t)
	p := b.carriedPlan(t, k, plan.Policy{Driver: plan.DriverClient, Pull: plan.PullNever, Drain: plan.DrainGate, Grace: plan.Duration(time.Second), Steps: steps(t, "1", "100%")})
	changed := map[string]corev1.ConditionStatus{}
	over := following(t, c, namespace, func(_ context.Context, p *corev1.Pod) error {
		if _, seen := changed[p.Name]; !seen && p.Spec.Containers[0].Image == web2 {
			changed[p.Name] = condition(p, kruise.InPlaceUpdateReady)
		}
		return nil
	})
	most := b.most(t)
	if res := b.run(t.Context(), t, k, p, apply.Options{}); res.Outcome != event.Completed {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	over()
	if n := most(); n != 1 {
		t.Errorf("%d pods were down at once, 1 may be", n)
	}
	for _, p := range b.pods(t) {
		if changed[p.Name] != corev1.ConditionFalse {
			t.Errorf("pod %s changed with its gate %q", p.Name, changed[p.Name])
		}
		if !ready(&p, web2) || condition(&p, kruise.InPlaceUpdateReady) != corev1.ConditionTrue {
			t.Errorf("pod %s: %+v", p.Name, p.Status.Conditions)
		}
	}
}
