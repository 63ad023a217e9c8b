package standin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

func TestUnitedDeployment_DistributesPods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: shop}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: shop}}
      spec:
        selector: {matchLabels: {app: shop}}
        updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 100%}}
        template:
          metadata: {labels: {app: shop}}
          spec: {containers: [{name: app, image: "`+web1+`"}]}
  topology:
    subsets:
    - {name: a, replicas: 40%, nodeSelectorTerm: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}]}}
    - {name: b}
`)
	united := b.of(t, "uniteddeployments")
	b.await(t, united, "shop", map[string]int64{"readyReplicas": 5, "updatedReadyReplicas": 5})
	subset := func(name string) map[string]corev1.Pod { return b.pods(t, "apps.kruise.io/subset-name="+name) }
	if len(subset("a")) != 2 || len(subset("b")) != 3 {
		t.Fatalf("%d and %d pods", len(subset("a")), len(subset("b")))
	}
	for _, p := range subset("a") {
		if p.Spec.NodeName != "node-0" {
			t.Errorf("a pod of zone-a is on %s", p.Spec.NodeName)
		}
	}
	b.patch(t, "uniteddeployments", "shop", `{"spec": {"updateStrategy": {"manualUpdate": {"partitions": {"b": 3}}}, "template": {"cloneSetTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "`+web2+`"}]}}}}}}}`)
	b.await(t, united, "shop", map[string]int64{"updatedReadyReplicas": 2, "readyReplicas": 5})
	if running(subset("a"), web2) != 2 || running(subset("b"), web1) != 3 {
		t.Errorf("%d pods of a, %d of b run the new image", running(subset("a"), web2), running(subset("b"), web2))
	}
	b.patch(t, "uniteddeployments", "shop", `{"spec": {"updateStrategy": {"manualUpdate": null}, "topology": {"subsets": [{"name": "b"}]}}}`)
	// The status counts pods of the gone subset, too, until they are collected.
	b.awaitPods(t, "apps.kruise.io/subset-name=a", func(pods map[string]corev1.Pod) bool { return len(pods) == 0 })
	b.awaitPods(t, "apps.kruise.io/subset-name=b", func(pods map[string]corev1.Pod) bool { return running(pods, web2) == 5 })
	b.await(t, united, "shop", map[string]int64{"updatedReadyReplicas": 5, "readyReplicas": 5, "replicas": 5})
}

func TestUnitedDeployment_RefusesAnImpossibleSum(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, err := b.of(t, "uniteddeployments").Create(t.Context(), object(t, `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: shop}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: shop}}
      spec: {selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: app, image: a}]}}}
  topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 2}]}
`), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("%v", err)
	}
}

func TestResourceDistribution_CopiesAndReportsConflicts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	other, conflict := b.Namespace(t), b.Namespace(t)
	distributions := b.everywhere(t, "resourcedistributions")
	b.Apply(t, conflict, `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {mine: "yes"}}`)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: `+b.namespace+`}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {speed: slow}}
  targets: {includedNamespaces: {list: [{name: `+other+`}, {name: `+conflict+`}, {name: nowhere}]}}
`)
	t.Cleanup(func() { b.forget(t, distributions, b.namespace) })
	o := b.await(t, distributions, b.namespace, map[string]int64{"desired": 3, "succeeded": 1, "failed": 2})
	if got := failing(o); got["ConflictOccurred"] != conflict || got["NamespaceNotExists"] != "nowhere" || len(got) != 2 {
		t.Errorf("conditions: %v", got)
	}
	copies := b.Client().CoreV1().ConfigMaps(other)
	holds := func(value string) {
		t.Helper()
		_, err := cluster.Await(t.Context(), copies, "settings", func(_ watch.EventType, c *corev1.ConfigMap) bool {
			return c.Data["speed"] == value && len(c.Data) == 1 && metav1.IsControlledBy(c, o)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	holds("slow")
	if _, err := copies.Patch(t.Context(), "settings", types.MergePatchType, []byte(`{"data": {"speed": "changed", "more": "1"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	holds("slow")
	change := `{"spec": {"resource": {"data": {"speed": "fast"}}}}`
	if _, err := distributions.Patch(t.Context(), b.namespace, types.MergePatchType, []byte(change), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	holds("fast")
	change = `{"spec": {"targets": {"includedNamespaces": {"list": []}}}}`
	if _, err := distributions.Patch(t.Context(), b.namespace, types.MergePatchType, []byte(change), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cluster.AwaitGone(t.Context(), copies, "settings", &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	if theirs, err := b.Client().CoreV1().ConfigMaps(conflict).Get(t.Context(), "settings", metav1.GetOptions{}); err != nil || theirs.Data["mine"] != "yes" {
		t.Errorf("the object of others: %v, %v", theirs, err)
	}
}

// failing are the namespaces of the conditions that are true; each has one here.
func failing(o *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		c, _ := c.(map[string]any)
		if c["status"] == "True" {
			namespaces, _ := c["failedNamespaces"].([]any)
			for _, n := range namespaces {
				out[c["type"].(string)] += n.(string)
			}
		}
	}
	return out
}

// TestUnitedDeployment_MovesUnschedulablePods has one subset without any node.
func TestUnitedDeployment_MovesUnschedulablePods(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: shop}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: shop}}
      spec:
        selector: {matchLabels: {app: shop}}
        template:
          metadata: {labels: {app: shop}}
          spec: {containers: [{name: app, image: "`+web1+`"}]}
  topology:
    scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 1, unschedulableDuration: 600}}
    subsets:
    - {name: a, maxReplicas: 3, nodeSelectorTerm: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}}
    - {name: b}
`)
	o := b.await(t, b.of(t, "uniteddeployments"), "shop", map[string]int64{"replicas": 4, "readyReplicas": 4})
	subsets, _, _ := unstructured.NestedSlice(o.Object, "status", "subsetStatuses")
	first, _ := subsets[0].(map[string]any)
	conditions, _ := first["conditions"].([]any)
	if c, _ := conditions[0].(map[string]any); c["type"] != "Schedulable" || c["status"] != "False" || c["reason"] != "reschedule" {
		t.Errorf("%v", first)
	}
	if second, _ := subsets[1].(map[string]any); second["conditions"] != nil {
		t.Errorf("a subset that always had room is marked: %v", second)
	}
	if n := len(b.pods(t, "apps.kruise.io/subset-name=b")); n != 4 {
		t.Errorf("%d pods in the subset with nodes", n)
	}
}
