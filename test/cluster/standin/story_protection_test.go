package standin_test

import (
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// TestPodUnavailableBudget_AllowsOneEviction lets one pod be evicted and refuses the next.
func TestPodUnavailableBudget_AllowsOneEviction(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	budgets := b.of(t, "podunavailablebudgets")
	b.apply(t, `
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`)
	b.await(t, budgets, "web", nil)
	b.apply(t, cloneSet("InPlaceIfPossible", "0"))
	b.await(t, b.of(t, "clonesets"), "web", map[string]int64{"availableReplicas": 4})
	b.await(t, budgets, "web", map[string]int64{"totalReplicas": 4, "currentAvailable": 4, "unavailableAllowed": 1})
	// What goes is not made again: while it was, another could go.
	b.patch(t, "clonesets", "web", `{"metadata": {"annotations": {"`+standin.AsleepAnnotation+`": "true"}}}`)
	evicted := 0
	for name := range b.pods(t, "app=web") {
		err := b.Client().CoreV1().Pods(b.namespace).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: b.namespace}})
		switch {
		case err == nil:
			evicted++
		case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `podunavailablebudget.policy.kruise.io "web" is forbidden`):
			t.Errorf("%s: %v", name, err)
		}
	}
	if evicted != 1 {
		t.Errorf("%d pods were evicted", evicted)
	}
}

func TestDeletion_OfProtectedWorkloadsIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, cloneSet("ReCreate", "0"))
	sets := b.of(t, "clonesets")
	b.await(t, sets, "web", map[string]int64{"availableReplicas": 4})
	label := func(value string) {
		t.Helper()
		b.patch(t, "clonesets", "web", `{"metadata": {"labels": {"policy.kruise.io/delete-protection": `+value+`}}}`)
	}
	refuses := func(text string) {
		t.Helper()
		err := sets.Delete(t.Context(), "web", metav1.DeleteOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
	label(`"Always"`)
	refuses("policy.kruise.io/delete-protection=Always")
	label(`"Cascading"`)
	refuses("replicas 4>0")
	label("null")
	if err := sets.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestDeletion_OfProtectedNamespacesIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	namespaces := b.Client().CoreV1().Namespaces()
	label := func(value string) {
		t.Helper()
		body := `{"metadata": {"labels": {"policy.kruise.io/delete-protection": ` + value + `}}}`
		if _, err := namespaces.Patch(t.Context(), b.namespace, types.MergePatchType, []byte(body), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	b.apply(t, cloneSet("ReCreate", "0"))
	b.await(t, b.of(t, "clonesets"), "web", map[string]int64{"availableReplicas": 4})
	label(`"Cascading"`)
	if err := namespaces.Delete(t.Context(), b.namespace, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "active pods 4>0") {
		t.Errorf("%v", err)
	}
	label("null")
}

func TestWebhook_RefusesBadObjects(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, err := b.of(t, "clonesets").Create(t.Context(), object(t, strings.Replace(cloneSet("ReCreate", "0"), "maxUnavailable: 2", "maxUnavailable: 0", 1)), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "maxUnavailable") {
		t.Errorf("%v", err)
	}
}
