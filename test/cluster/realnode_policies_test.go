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

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// Node facts 3.10.
func TestRealMutatingAdmissionPolicy_ChangesPods(t *testing.T) {
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
	awaitMutation(t, c, namespace, "name:side")
	c.Apply(t, namespace, realPod("web", "", ""))
	p := awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		return byName(p.Status.ContainerStatuses, "side").Ready && byName(p.Status.ContainerStatuses, "app").Ready
	})
	if len(p.Spec.ReadinessGates) != 1 || ready(p) {
		t.Errorf("gates %v, ready %v", p.Spec.ReadinessGates, ready(p))
	}
}

// Node facts 3.10: apply configurations add native sidecars and variables, but no
// arguments: that list is atomic.
func TestRealApplyConfiguration_AddsSidecarsAtCreation(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, mutation(namespace, `Object{spec: Object.spec{
          initContainers: [Object.spec.initContainers{name: "mesh", image: "registry.test/pause:1", restartPolicy: "Always"}],
          containers: [Object.spec.containers{name: "app", env: [Object.spec.containers.env{name: "VERSION", value: "from the policy"}]}]}}`))
	removeAfter(t, c, "MutatingAdmissionPolicy", namespace)
	awaitMutation(t, c, namespace, "name:mesh")
	c.Apply(t, namespace, realPod("web", "", ""))
	p := restarted(t, c, namespace, "web", 0)
	if mesh := byName(p.Status.InitContainerStatuses, "mesh"); !mesh.Ready {
		t.Errorf("sidecar: %v", mesh)
	}
	if v := served(t, p); v != "from the policy" {
		t.Errorf("serves %q", v)
	}
}

func TestRealApplyConfiguration_KeepsAtomicLists(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, mutation(namespace, `Object{spec: Object.spec{
          containers: [Object.spec.containers{name: "app", args: ["pause"]}]}}`))
	removeAfter(t, c, "MutatingAdmissionPolicy", namespace)
	eventually(t, "pods are refused", func() bool {
		_, err := c.DryRun(t.Context(), namespace, strings.NewReader(realPod("probe", "", "")))
		return err != nil && strings.Contains(err.Error(), "atomic")
	})
}

// mutation is a policy of one apply configuration for new pods, with its binding.
func mutation(namespace, expression string) string {
	return fmt.Sprintf(`
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
        %[2]s
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, namespace, expression)
}

// awaitMutation waits until new pods have the text in them.
func awaitMutation(t *testing.T, c *cluster.Cluster, namespace, text string) {
	t.Helper()
	eventually(t, "the policy is in force", func() bool {
		stored, err := c.DryRun(t.Context(), namespace, strings.NewReader(realPod("probe", "", "")))
		return err == nil && strings.Contains(fmt.Sprint(stored[0].Object), text)
	})
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

// protection denies the deletion of the namespace's pods that have the label app,
// under the match condition given.
func protection(namespace, condition string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}]
  matchConditions: [{name: of-interest, expression: %[2]q}]
  validations: [{expression: "!('app' in oldObject.metadata.labels)", message: protected, reason: Forbidden}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, namespace, condition)
}

// Node facts 3.11.
func TestRealDeletionPolicy_RefusesDeletion(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("kept", "", "")+"---"+realPod("evicted", "", ""))
	restarted(t, c, namespace, "kept", 0)
	restarted(t, c, namespace, "evicted", 0)
	// Without a condition, the kubelet's own deletion is denied too.
	c.Apply(t, namespace, protection(namespace, "true"))
	removeAfter(t, c, "ValidatingAdmissionPolicy", namespace)
	client := c.Client().CoreV1().Pods(namespace)
	dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, GracePeriodSeconds: new(int64)}
	eventually(t, "the policy is in force", func() bool {
		return apierrors.IsForbidden(client.Delete(t.Context(), "kept", dry))
	})
	if err := client.Delete(t.Context(), "kept", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a protected pod was deleted: %v", err)
	}
	// The hole: eviction succeeds.
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "evicted"}}
	if err := client.EvictV1(t.Context(), eviction); err != nil {
		t.Errorf("eviction: %v", err)
	}
	awaitPod(t, c, namespace, "evicted", func(p *corev1.Pod) bool { return status(p).State.Terminated != nil })
	if err := client.Delete(t.Context(), "evicted", dry); !apierrors.IsForbidden(err) {
		t.Errorf("the last step of a deletion: %v", err)
	}
	// With it, the kubelet finishes what is stuck.
	c.Apply(t, namespace, protection(namespace, "!has(oldObject.metadata.deletionTimestamp)"))
	awaitGone(t, c, namespace, "evicted")
	if err := client.Delete(t.Context(), "kept", dry); !apierrors.IsForbidden(err) {
		t.Errorf("a pod that is not terminating: %v", err)
	}
}
