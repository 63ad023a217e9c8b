package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

// deleted asks for the deletion of an object.
func deleted(t *testing.T, object, around string) []string {
	t.Helper()
	in := golden.Parse(t, object)
	var rules []string
	for _, f := range check.Object(newContext(in, golden.Parse(t, around)), check.Request{Operation: check.Delete, Object: in[0]}) {
		rules = append(rules, f.Rule)
	}
	return rules
}

func TestDeletion_Protected(t *testing.T) {
	labelled := func(version, kind, value, rest string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: x, labels: {policy.kruise.io/delete-protection: " + value + "}}\n" + rest
	}
	const none, two = "spec: {replicas: 0}", "spec: {replicas: 2}"
	pod := func(status string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nstatus: {phase: " + status + "}\n---\n"
	}
	claim := func(phase string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: x}\nstatus: {phase: " + phase + "}\n"
	}
	for _, tt := range []struct {
		name, object, around string
		held                 bool
	}{
		{"always", labelled("apps.kruise.io/v1beta1", "CloneSet", "Always", none), "", true},
		{"cascading with replicas", labelled("apps/v1", "StatefulSet", "Cascading", two), "", true},
		{"cascading with the default", labelled("apps/v1", "Deployment", "Cascading", ""), "", true},
		{"cascading without replicas", labelled("apps.kruise.io/v1alpha1", "UnitedDeployment", "Cascading", none), "", false},
		{"other value", labelled("apps/v1", "ReplicaSet", "Sometimes", two), "", false},
		{"no label", strings.Replace(labelled("apps/v1", "ReplicaSet", "Always", two), "delete-protection", "other", 1), "", false},
		{"being deleted", strings.Replace(labelled("apps/v1", "ReplicaSet", "Always", two), "name: x", "name: x, deletionTimestamp: '2026-01-01T00:00:00Z'", 1), "", false},
		{"kind without protection", labelled("apps.kruise.io/v1beta1", "DaemonSet", "Always", ""), "", false},
		{"service", labelled("v1", "Service", "Always", ""), "", true},
		{"service, cascading", labelled("v1", "Service", "Cascading", ""), "", false},
		{"ingress, cascading", labelled("networking.k8s.io/v1", "Ingress", "Cascading", ""), "", false},
		{"definition", labelled("apiextensions.k8s.io/v1", "CustomResourceDefinition", "Cascading", ""), "", true},
		{"empty namespace", labelled("v1", "Namespace", "Cascading", ""), strings.ReplaceAll(pod("Running"), "namespace: x", "namespace: other"), false},
		{"namespace with a pod", labelled("v1", "Namespace", "Cascading", ""), pod("Pending"), true},
		{"namespace with an ended pod", labelled("v1", "Namespace", "Cascading", ""), pod("Failed") + claim("Pending"), false},
		{"namespace with a claim", labelled("v1", "Namespace", "Cascading", ""), claim("Bound"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := deleted(t, tt.object, tt.around)
			if held := len(got) == 1 && got[0] == "delete/protected"; held != tt.held || !held && len(got) > 0 {
				t.Errorf("got %q, want held: %t", got, tt.held)
			}
		})
	}
}

const guardedPod = `
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u, controller: true}]}
spec: {containers: [{name: app}]}
`

const guardedSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}
spec: {replicas: 2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
---
`

// TestDeletion_UnderBudget: docs/kruise/protection.md#podunavailablebudget, the decision
// for one request.
func TestDeletion_UnderBudget(t *testing.T) {
	budget := func(spec string) string {
		return guardedSet + "apiVersion: policy.kruise.io/v1beta1\nkind: PodUnavailableBudget\nmetadata: {name: guard, namespace: shop}\n" + spec + "\n"
	}
	const sel = "selector: {matchLabels: {app: web}}, "
	const daemonSet = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: shop}\n---\n"
	ofDaemonSet := []string{"kind: ReplicaSet, name: web-1", "kind: DaemonSet, name: agent"}
	// A rollout has two ReplicaSets, and the Deployment wants two pods all the same.
	const rollout = "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-2, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}\nspec: {replicas: 1}\n"
	second := "---" + strings.Replace(guardedPod, "web-0", "web-1", 1)
	for _, tt := range []struct {
		name, around string
		edit         []string
		held         bool
	}{
		{"one of two that must stay", budget("spec: {" + sel + "maxUnavailable: 1}"), nil, true},
		{"two of two", budget("spec: {"+sel+"maxUnavailable: 1}") + second, nil, false},
		{"both must stay", budget("spec: {"+sel+"minAvailable: 100%}") + second, nil, true},
		{"another pod that is not ready", budget("spec: {"+sel+"maxUnavailable: 1}") + second + "status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}\n", nil, true},
		{"two ReplicaSets of one Deployment", budget("spec: {"+sel+"maxUnavailable: 1}") + strings.Replace(second, "web-1, uid", "web-2, uid", 1) + rollout, nil, false},
		{"by target", budget("spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minAvailable: 1}"), nil, true},
		{"of another target", budget("spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}, minAvailable: 1}"), nil, false},
		{"given total", budget("spec: {" + sel + "maxUnavailable: 50%, protectTotalReplicas: 1}"), nil, false},
		{"nothing must stay", budget("spec: {" + sel + "minAvailable: 0}"), nil, false},
		{"only evictions", budget("spec: {" + sel + "minAvailable: 1, protectOperations: [EVICT]}"), nil, false},
		{"ignored", budget("spec: {" + sel + "minAvailable: 1, ignoredPodSelector: {matchLabels: {app: web}}}"), nil, false},
		{"counted by Kruise", budget("spec: {" + sel + "minAvailable: 1}\nstatus: {desiredAvailable: 1, unavailableAllowed: 1}"), nil, false},
		{"spent", budget("spec: {" + sel + "minAvailable: 1}\nstatus: {desiredAvailable: 1, unavailableAllowed: 0}"), nil, true},
		{"let through before", budget("spec: {" + sel + "minAvailable: 1}\nstatus: {desiredAvailable: 1, disruptedPods: {web-0: '2026-01-01T00:00:00Z'}}"), nil, false},
		{"elsewhere", strings.ReplaceAll(budget("spec: {"+sel+"minAvailable: 1}"), "guard, namespace: shop", "guard, namespace: far"), nil, false},
		{"exempt pod", budget("spec: {" + sel + "minAvailable: 1}"), []string{"namespace: shop", "namespace: shop, annotations: {pub.kruise.io/no-protect: 'true'}"}, false},
		{"pod out of service", budget("spec: {" + sel + "minAvailable: 1}"), []string{"{app: web}", "{app: web, unavailable-pod.kruise.io/x: held}"}, false},
		{"of a DaemonSet, which cannot be scaled", budget("spec: {" + sel + "maxUnavailable: 0}"), ofDaemonSet, false},
		{"of a DaemonSet, by target", daemonSet + budget("spec: {targetRef: {apiVersion: apps/v1, kind: DaemonSet, name: agent}, maxUnavailable: 0}"), ofDaemonSet, false},
		{"of a DaemonSet, counted in pods", budget("spec: {" + sel + "minAvailable: 1}"), ofDaemonSet, true},
		{"of a DaemonSet, with a given total", budget("spec: {" + sel + "maxUnavailable: 0, protectTotalReplicas: 1}"), ofDaemonSet, true},
		{"pod that waits", budget("spec: {" + sel + "minAvailable: 1}"), []string{"spec:", "status: {phase: Pending}\nspec:"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := deleted(t, edited(t, guardedPod, tt.edit), tt.around)
			if held := len(got) == 1 && got[0] == "delete/budget-spent"; held != tt.held || !held && len(got) > 0 {
				t.Errorf("got %q, want held: %t", got, tt.held)
			}
		})
	}
}
