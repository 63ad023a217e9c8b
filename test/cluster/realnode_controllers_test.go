package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// workload is one of two pods; further lines are of its spec.
func workload(kind, spec string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  %s
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: %q}]
`, kind, spec, appVersion("1"))
}

// Node facts 3.9, ReplicaSet.
func TestRealReplicaSet_KeepsPatchedPods(t *testing.T) {
	c, namespace := realCluster(t)
	sets := c.Client().AppsV1().ReplicaSets(namespace)
	up := func(n int32) func(watch.EventType, *appsv1.ReplicaSet) bool {
		return func(_ watch.EventType, s *appsv1.ReplicaSet) bool { return s.Status.ReadyReplicas == n }
	}
	c.Apply(t, namespace, workload("ReplicaSet", "replicas: 1"))
	if _, err := cluster.Await(t.Context(), sets, "web", up(1)); err != nil {
		t.Fatal(err)
	}
	old := pods(t, c, namespace)[0]
	patchImage(t, c, namespace, old.Name, appVersion("2"))
	restarted(t, c, namespace, old.Name, 1)
	changed := strings.ReplaceAll(workload("ReplicaSet", "replicas: 2"), appVersion("1"), appVersion("3"))
	c.Apply(t, namespace, changed)
	if _, err := cluster.Await(t.Context(), sets, "web", up(2)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pods(t, c, namespace) {
		want := appVersion("3")
		if p.UID == old.UID {
			want = appVersion("2")
		}
		if got := p.Spec.Containers[0].Image; got != want {
			t.Errorf("%s runs %s, want %s", p.Name, got, want)
		}
	}
}

// Node facts 3.9, Deployment: patched pods stay until the template changes.
func TestRealDeployment_KeepsPatchedPods(t *testing.T) {
	c, namespace := realCluster(t)
	document := workload("Deployment", "replicas: 1")
	c.Apply(t, namespace, document)
	awaitReady(t, c, namespace, "web")
	old := pods(t, c, namespace)[0]
	patchImage(t, c, namespace, old.Name, appVersion("2"))
	restarted(t, c, namespace, old.Name, 1)
	// A change outside of the template makes the controller look at everything again.
	c.Apply(t, namespace, strings.Replace(document, "replicas: 1", "replicas: 2", 1))
	awaitReady(t, c, namespace, "web")
	if !slices.ContainsFunc(pods(t, c, namespace), func(p corev1.Pod) bool {
		return p.UID == old.UID && p.Spec.Containers[0].Image == appVersion("2") && p.DeletionTimestamp == nil
	}) {
		t.Error("the patched pod was replaced")
	}
	c.Apply(t, namespace, strings.ReplaceAll(strings.Replace(document, "replicas: 1", "replicas: 2", 1), appVersion("1"), appVersion("3")))
	awaitGone(t, c, namespace, old.Name)
	awaitReady(t, c, namespace, "web")
}

// pods lists the pods of the namespace.
func pods(t *testing.T, c *cluster.Cluster, namespace string) []corev1.Pod {
	t.Helper()
	list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// adopt patches a pod to the new image and revision, as the client driver does.
func adopt(t *testing.T, c *cluster.Cluster, namespace, name, revision string) {
	t.Helper()
	body := fmt.Appendf(nil, `{"metadata":{"labels":{"controller-revision-hash":%q}},"spec":{"containers":[{"name":"app","image":%q}]}}`,
		revision, appVersion("2"))
	if _, err := c.Client().CoreV1().Pods(namespace).
		Patch(t.Context(), name, types.StrategicMergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	restarted(t, c, namespace, name, 1)
}

// Node facts 3.9, StatefulSet.
func TestRealStatefulSet_CountsPatchedPods(t *testing.T) {
	c, namespace := realCluster(t)
	sets := c.Client().AppsV1().StatefulSets(namespace)
	await := func(holds func(*appsv1.StatefulSet) bool) *appsv1.StatefulSet {
		t.Helper()
		s, err := cluster.Await(t.Context(), sets, "web", func(_ watch.EventType, s *appsv1.StatefulSet) bool {
			return s.Status.ObservedGeneration == s.Generation && holds(s)
		})
		if err != nil {
			t.Fatalf("%v: %+v", err, s)
		}
		return s
	}
	set := workload("StatefulSet", "replicas: 1\n  serviceName: web\n  updateStrategy: {type: OnDelete}")
	c.Apply(t, namespace, set)
	first := await(func(s *appsv1.StatefulSet) bool { return s.Status.ReadyReplicas == 1 })
	c.Apply(t, namespace, strings.ReplaceAll(set, appVersion("1"), appVersion("2")))
	second := await(func(s *appsv1.StatefulSet) bool { return s.Status.UpdateRevision != first.Status.UpdateRevision })
	before := pods(t, c, namespace)[0]
	adopt(t, c, namespace, "web-0", second.Status.UpdateRevision)
	await(func(s *appsv1.StatefulSet) bool { return s.Status.UpdatedReplicas == 1 && s.Status.ReadyReplicas == 1 })
	c.Apply(t, namespace, strings.NewReplacer(appVersion("1"), appVersion("2"), "OnDelete", "RollingUpdate").Replace(set))
	await(func(s *appsv1.StatefulSet) bool {
		return s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && s.Status.CurrentRevision == s.Status.UpdateRevision
	})
	if pods(t, c, namespace)[0].UID != before.UID {
		t.Error("the switch to RollingUpdate replaced the pod")
	}
}

// Node facts 3.9, DaemonSet.
func TestRealDaemonSet_CountsPatchedPods(t *testing.T) {
	c, namespace := realCluster(t)
	sets := c.Client().AppsV1().DaemonSets(namespace)
	await := func(holds func(*appsv1.DaemonSet) bool) {
		t.Helper()
		s, err := cluster.Await(t.Context(), sets, "web", func(_ watch.EventType, s *appsv1.DaemonSet) bool {
			return s.Status.ObservedGeneration == s.Generation && holds(s)
		})
		if err != nil {
			t.Fatalf("%v: %+v", err, s)
		}
	}
	set := workload("DaemonSet", "updateStrategy: {type: OnDelete}")
	c.Apply(t, namespace, set)
	await(func(s *appsv1.DaemonSet) bool { return s.Status.NumberReady == 1 })
	before := pods(t, c, namespace)[0]
	c.Apply(t, namespace, strings.ReplaceAll(set, appVersion("1"), appVersion("2")))
	await(func(s *appsv1.DaemonSet) bool { return s.Status.UpdatedNumberScheduled == 0 })
	adopt(t, c, namespace, before.Name, newestRevision(t, c, namespace))
	await(func(s *appsv1.DaemonSet) bool {
		return s.Status.UpdatedNumberScheduled == 1 && s.Status.NumberReady == 1
	})
	c.Apply(t, namespace, strings.NewReplacer(appVersion("1"), appVersion("2"), "OnDelete", "RollingUpdate").Replace(set))
	await(func(s *appsv1.DaemonSet) bool {
		return s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType && s.Status.NumberReady == 1
	})
	if pods(t, c, namespace)[0].UID != before.UID {
		t.Error("the switch to RollingUpdate replaced the pod")
	}
}

// newestRevision is the hash of the latest ControllerRevision, which is what a
// DaemonSet labels pods with.
func newestRevision(t *testing.T, c *cluster.Cluster, namespace string) string {
	t.Helper()
	list, err := c.Client().AppsV1().ControllerRevisions(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	newest := slices.MaxFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	return newest.Labels[appsv1.ControllerRevisionHashLabelKey]
}
