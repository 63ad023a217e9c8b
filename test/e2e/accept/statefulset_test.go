package accept

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const tenPods = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ten}
spec:
  replicas: 10
  serviceName: ten
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: ten}}
  updateStrategy: {rollingUpdate: {maxUnavailable: %s}}
  template:
    metadata: {labels: {app: ten}}
    spec:
      containers: [{name: app, image: "registry.example.com/app:1"}]
`

// TestStatefulSet_PercentageIsThatOfTheRule: how many pods the real controller takes down at once
// for a percentage, with new pods that never become ready, is what the rule says.
func TestStatefulSet_PercentageIsThatOfTheRule(t *testing.T) {
	for _, percentage := range []string{"25%", "5%"} {
		t.Run(percentage, func(t *testing.T) {
			c, namespace := cluster.Shared(t, cluster.WithFeatureGate("MaxUnavailableStatefulSet", true))
			c.Apply(t, namespace, fmt.Sprintf(tenPods, percentage))
			set := await(t, c, namespace, func(s *appsv1.StatefulSet) bool { return s.Status.ReadyReplicas == 10 })
			budget := (&rules.NativeStatefulSet{Spec: &set.Spec, MaxUnavailable: true}).Budget()
			set = patch(t, c, namespace, `{"spec": {"template": {"metadata": {"annotations": {"lab.test/unready": "*"}}}}}`)
			await(t, c, namespace, func(s *appsv1.StatefulSet) bool {
				return s.Status.ObservedGeneration >= set.Generation && s.Status.UpdatedReplicas >= int32(budget) && s.Status.Replicas == 10
			})
			// One more pass over the same pods, which would take further ones down.
			set = patch(t, c, namespace, `{"spec": {"revisionHistoryLimit": 3}}`)
			set = await(t, c, namespace, func(s *appsv1.StatefulSet) bool { return s.Status.ObservedGeneration >= set.Generation })
			if got := int(set.Status.UpdatedReplicas); got != budget || set.Status.ReadyReplicas != int32(10-budget) {
				t.Errorf("%d pods are updated and %d ready, the rule says that %d go down", got, set.Status.ReadyReplicas, budget)
			}
		})
	}
}

func patch(t *testing.T, c *cluster.Cluster, namespace, body string) *appsv1.StatefulSet {
	t.Helper()
	set, err := c.Client().AppsV1().StatefulSets(namespace).Patch(t.Context(), "ten", types.MergePatchType, []byte(body), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func await(t *testing.T, c *cluster.Cluster, namespace string, until func(*appsv1.StatefulSet) bool) *appsv1.StatefulSet {
	t.Helper()
	set, err := cluster.Await(t.Context(), c.Client().AppsV1().StatefulSets(namespace), "ten",
		func(_ watch.EventType, s *appsv1.StatefulSet) bool { return until(s) })
	if err != nil {
		t.Fatal(err)
	}
	return set
}
