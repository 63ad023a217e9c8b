package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// Node facts 3.10.
func TestRealMutatingAdmissionPolicy(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  reinvocationPolicy: Never
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", image: "registry.test/app:2"}]}}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "add", path: "/spec/readinessGates", value: [{"conditionType": "example.com/gate"}]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, namespace))
	removeAfter(t, c, "MutatingAdmissionPolicy", namespace)
	eventually(t, "the policy is in force", func() bool {
		stored, err := c.DryRun(t.Context(), namespace, strings.NewReader(realPod("probe", "", "")))
		return err == nil && strings.Contains(fmt.Sprint(stored[0].Object), "name:side")
	})
	c.Apply(t, namespace, realPod("web", "", ""))
	p := awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		return byName(p.Status.ContainerStatuses, "side").Ready && byName(p.Status.ContainerStatuses, "app").Ready
	})
	if len(p.Spec.ReadinessGates) != 1 || ready(p) {
		t.Errorf("gates %v, ready %v", p.Spec.ReadinessGates, ready(p))
	}
}

// removeAfter takes a policy and its binding away with the test.
func removeAfter(t *testing.T, c *cluster.Cluster, kind, name string) {
	t.Helper()
	t.Cleanup(func() {
		admin := c.Client().AdmissionregistrationV1()
		ctx := context.Background()
		if kind == "MutatingAdmissionPolicy" {
			_ = admin.MutatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})
			_ = admin.MutatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})
			return
		}
		_ = admin.ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})
		_ = admin.ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// Node facts 3.11.
func TestRealDeletionPolicy(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("kept", "", "")+"---"+realPod("evicted", "", ""))
	restarted(t, c, namespace, "kept", 0)
	restarted(t, c, namespace, "evicted", 0)
	c.Apply(t, namespace, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}]
  matchConditions: [{name: not-terminating, expression: "!has(oldObject.metadata.deletionTimestamp)"}]
  validations: [{expression: "!('app' in oldObject.metadata.labels)", message: protected}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, namespace))
	removeAfter(t, c, "ValidatingAdmissionPolicy", namespace)
	client := c.Client().CoreV1().Pods(namespace)
	eventually(t, "the policy is in force", func() bool {
		err := client.Delete(t.Context(), "kept", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
	})
	if err := client.Delete(t.Context(), "kept", metav1.DeleteOptions{}); err == nil {
		t.Error("a protected pod was deleted")
	}
	// The hole: eviction succeeds, and the kubelet may finish it.
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "evicted"}}
	if err := client.EvictV1(t.Context(), eviction); err != nil {
		t.Errorf("eviction: %v", err)
	}
	if _, err := cluster.Await(t.Context(), client, "evicted",
		func(e watch.EventType, _ *corev1.Pod) bool { return e == watch.Deleted }); err != nil {
		t.Error(err)
	}
}
