package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// stateful is a StatefulSet with more in the spec of its pods.
func stateful(name, more string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[1]s, namespace: NAMESPACE}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: "registry.example.com/app:1"}]
%[2]s
---`, name, more)
}

// recorded is a PersistentPodState with what was recorded of pods 0 and 1.
func recorded(name string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: %[1]s, namespace: NAMESPACE}
spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: %[1]s}
  requiredPersistentTopology: {keys: [topology.kubernetes.io/zone, rack]}
  preferredPersistentTopology:
  - {weight: 80, preference: {keys: [kubernetes.io/hostname, topology.kubernetes.io/zone]}}
  - {weight: 20, preference: {keys: [rack]}}
status:
  podStates:
    %[1]s-probe: {nodeTopologyLabels: {topology.kubernetes.io/zone: zone-a}}
    %[1]s-0: {nodeName: node-2, nodeTopologyLabels: {kubernetes.io/hostname: node-2, topology.kubernetes.io/zone: zone-c}}
    %[1]s-1: {nodeName: node-1, nodeTopologyLabels: {kubernetes.io/hostname: node-1, topology.kubernetes.io/zone: zone-b}}
---`, name)
}

const placesOfItsOwn = `
      nodeSelector: {kubernetes.io/os: linux}
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: 7, preference: {matchExpressions: [{key: disk, operator: In, values: [nvme]}]}}`

// TestPersistentPodState_PinsRecreatedPods: the rendered policy puts into pods that are created
// again what was recorded of each, and leaves others alone.
func TestPersistentPodState_PinsRecreatedPods(t *testing.T) {
	c, namespace := cluster.Shared(t, cluster.WithNodes(node.Spread(3, "zone-a", "zone-b", "zone-c")...))
	input := stateful("bare", "") + recorded("bare") + stateful("db", placesOfItsOwn) + recorded("db") + stateful("other", "")
	input = strings.ReplaceAll(strings.TrimSuffix(input, "---"), "NAMESPACE", namespace)
	c.Apply(t, namespace, run(t, c, input, "render"))
	p := &places{c: c, namespace: namespace}
	p.inForce(t, "bare")
	p.inForce(t, "db")

	terms := func(host, zone string) []corev1.PreferredSchedulingTerm {
		in := func(key, value string) corev1.NodeSelectorRequirement {
			return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
		}
		return []corev1.PreferredSchedulingTerm{
			{Weight: 80, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in(corev1.LabelHostname, host), in(corev1.LabelTopologyZone, zone)}}},
			{Weight: 20},
		}
	}
	own := corev1.PreferredSchedulingTerm{Weight: 7, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"nvme"}}}}}
	for pod, want := range map[string]placed{
		"bare-0":  {Node: "node-2", Mark: "bare", Selector: map[string]string{corev1.LabelTopologyZone: "zone-c"}, Preferred: terms("node-2", "zone-c")},
		"bare-1":  {Node: "node-1", Mark: "bare", Selector: map[string]string{corev1.LabelTopologyZone: "zone-b"}, Preferred: terms("node-1", "zone-b")},
		"bare-2":  {},
		"db-0":    {Node: "node-2", Mark: "db", Selector: map[string]string{corev1.LabelOSStable: "linux", corev1.LabelTopologyZone: "zone-c"}, Preferred: append([]corev1.PreferredSchedulingTerm{own}, terms("node-2", "zone-c")...)},
		"db-2":    {Selector: map[string]string{corev1.LabelOSStable: "linux"}, Preferred: []corev1.PreferredSchedulingTerm{own}},
		"other-0": {},
	} {
		got := p.recreated(t, pod)
		if want.Node == "" {
			got.Node = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pod, diff)
		}
	}
}

// TestPersistentPodState_ReadsPodsOfTheCluster: without Kruise, pods and nodes tell what Kruise would
// record, and what an earlier rendering wrote is kept.
func TestPersistentPodState_ReadsPodsOfTheCluster(t *testing.T) {
	c, namespace := cluster.Shared(t, cluster.WithNodes(node.Spread(3, "zone-a", "zone-b", "zone-c")...))
	state, _, _ := strings.Cut(recorded("db"), "status:")
	input := strings.ReplaceAll(stateful("db", "")+state, "NAMESPACE", namespace)
	c.Apply(t, namespace, strings.ReplaceAll(strings.TrimSuffix(stateful("db", ""), "---"), "NAMESPACE", namespace))
	zones := map[string]string{"node-0": "zone-a", "node-1": "zone-b", "node-2": "zone-c"}
	want := map[string]string{}
	for _, name := range []string{"db-0", "db-1", "db-2"} {
		pod, err := cluster.Await(t.Context(), c.Client().CoreV1().Pods(namespace), name, func(_ watch.EventType, pod *corev1.Pod) bool {
			return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].Ready
		})
		if err != nil {
			t.Fatal(err)
		}
		want[name] = fmt.Sprintf("kubernetes.io/hostname=%s\ntopology.kubernetes.io/zone=%s\n", pod.Spec.NodeName, zones[pod.Spec.NodeName])
	}
	c.Apply(t, namespace, run(t, c, input, "render", "--live"))
	states := func() map[string]string {
		t.Helper()
		m, err := c.Client().CoreV1().ConfigMaps(namespace).Get(t.Context(), "db-pod-states", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Error(diff)
	}
	if err := c.Client().CoreV1().Pods(namespace).Delete(t.Context(), "db-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, namespace, run(t, c, input, "render", "--live"))
	if diff := cmp.Diff(want["db-0"], states()["db-0"]); diff != "" || states()["db-1"] == "" {
		t.Errorf("after db-1 went: %v", states())
	}
}

// placed is what a pod has to go where it was.
type placed struct {
	Node, Mark string
	Selector   map[string]string
	Preferred  []corev1.PreferredSchedulingTerm
}

type places struct {
	c         *cluster.Cluster
	namespace string
}

// inForce waits until the policy of a workload changes new pods.
func (p *places) inForce(t *testing.T, workload string) {
	t.Helper()
	isController := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: workload + "-probe", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "StatefulSet", Name: workload, UID: types.UID("probe"), Controller: &isController},
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example.com/app:1"}}},
	}
	// The server does not report when it has compiled a policy.
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, cluster.Patience, true, func(ctx context.Context) (bool, error) {
		stored, err := p.c.Client().CoreV1().Pods(p.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && stored.Spec.NodeSelector != nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recreated deletes a pod and returns where the next of its name is placed.
func (p *places) recreated(t *testing.T, name string) placed {
	t.Helper()
	pods := p.c.Client().CoreV1().Pods(p.namespace)
	old, err := cluster.Await(t.Context(), pods, name, func(_ watch.EventType, pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
	if err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	pod, err := cluster.Await(t.Context(), pods, name, func(_ watch.EventType, pod *corev1.Pod) bool { return pod.UID != old.UID && pod.Spec.NodeName != "" })
	if err != nil {
		t.Fatal(err)
	}
	out := placed{Node: pod.Spec.NodeName, Mark: pod.Annotations["kruise.io/injected-persistent-pod-state"], Selector: pod.Spec.NodeSelector}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		out.Preferred = a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	return out
}
