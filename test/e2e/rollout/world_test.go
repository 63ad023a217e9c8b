package rollout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const freeze = "no new images on Fridays"

// sameImage is the policy that turns new images down.
const sameImage = "object.spec.template.spec.containers[0].image == oldObject.spec.template.spec.containers[0].image"

// policy has the server turn down, in a namespace, changes of a resource that an expression
// does not hold for.
func policy(namespace string, r schema.GroupVersionResource, expression string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [%[3]q], apiVersions: ["*"], operations: [UPDATE], resources: [%[4]s]}]
  validations:
  - expression: %[5]s
    message: %[2]s
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, namespace, freeze, r.Group, r.Resource, expression)
}

// denies waits until the server turns new images down, or no longer does.
func (b *bed) denies(t *testing.T, denies bool) {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	body := fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": %q}]`, web2)
	must(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, testcluster.Patience, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(b.object.Resource).Namespace(b.namespace).
			Patch(ctx, "web", types.JSONPatchType, []byte(body), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !strings.Contains(err.Error(), freeze) {
			return false, err
		}
		return (err != nil) == denies, nil
	}))
}

// TestDenied_EndsWithThePolicysMessage: what a policy of the cluster turns down ends the rollout with the policy's
// own words, and nothing is changed; when the policy is gone it continues.
func TestDenied_EndsWithThePolicysMessage(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	b.Apply(t, b.namespace, policy(b.namespace, b.object.Resource, sameImage))
	b.denies(t, true)
	c := b.open(t)
	p := b.plan(t, c, paused(t))
	res := b.run(t.Context(), t, c, p, apply.Options{})
	if res.Outcome != event.Failed || !strings.Contains(res.Reason, freeze) {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	if pods := b.pods(t); running(pods, web1) != len(pods) {
		t.Errorf("%d of %d pods are as they were", running(pods, web1), len(pods))
	}
	bindings := b.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	must(t, bindings.Delete(t.Context(), b.namespace, metav1.DeleteOptions{}))
	must(t, b.Client().AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), b.namespace, metav1.DeleteOptions{}))
	b.denies(t, false)
	file := filepath.Join(t.TempDir(), "plan.yaml")
	text, err := planfile.Write(p)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
	b.call(t, "rollout", "retry", b.typed(), "--exit-on-pause", "--plan", file).Wants(t, 5)
	if pods := b.pods(t); running(pods, web2) != 1 {
		t.Errorf("%d of %d pods have gone on", running(pods, web2), len(pods))
	}
}

// TestDeletedNamespace_EndsItsRollouts: a namespace that is deleted ends the rollouts in it.
func TestDeletedNamespace_EndsItsRollouts(t *testing.T) {
	for _, name := range []string{"CloneSet", "Deployment", "ReplicaSet"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kinds[name]
			b := newBed(t, k.workload)
			c := b.open(t)
			p := paused(t)
			p.Driver = k.driver
			made := b.plan(t, c, p)
			if res := b.run(t.Context(), t, c, made, apply.Options{AtPause: true}); res.Outcome != event.AtPause {
				t.Fatalf("%s: %s", res.Outcome, res.Reason)
			}
			must(t, b.Client().CoreV1().Namespaces().Delete(t.Context(), b.namespace, metav1.DeleteOptions{}))
			if res := b.run(t.Context(), t, c, made, apply.Options{}); res.Outcome != event.Failed || !reasonIs(res.Reason, vanished) {
				t.Errorf("%s: %s", res.Outcome, res.Reason)
			}
		})
	}
}
