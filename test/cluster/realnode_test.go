package cluster_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

// These tests hold the ground that the client driver stands on: what a real
// kubelet and API server do, as it was once measured.

// realCluster is shared by all of them.
func realCluster(t *testing.T) (*cluster.Cluster, string) {
	t.Helper()
	t.Parallel()
	return cluster.Shared(t, cluster.WithRealNode(t))
}

// appVersion is the test image in this version.
func appVersion(v string) string { return realnode.Repository + ":" + v }

// realPod is a pod of one container, with more spec before and more containers
// behind it.
func realPod(name, spec, more string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: %[1]s}}
spec:
  terminationGracePeriodSeconds: 1
  %s
  containers:
  - {name: app, image: %q}
  %s
`, name, spec, appVersion("1"), more)
}

// served asks the pod for its version.
func served(t *testing.T, p *corev1.Pod) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Status.PodIP+":8080/", nil)
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	eventually(t, p.Name+" answers", func() bool {
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		version = strings.TrimSpace(string(text))
		return err == nil
	})
	return version
}

// byName finds a container's status.
func byName(list []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	i := slices.IndexFunc(list, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return corev1.ContainerStatus{}
	}
	return list[i]
}

// restarted waits until the pod is ready and its container app has so many
// restarts.
func restarted(t *testing.T, c *cluster.Cluster, namespace, name string, n int32) *corev1.Pod {
	t.Helper()
	return awaitPod(t, c, namespace, name, func(p *corev1.Pod) bool {
		s := byName(p.Status.ContainerStatuses, "app")
		return ready(p) && s.RestartCount == n && s.State.Running != nil
	})
}

// Node facts 3.1.
func TestRealImagePatch(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", "", `- {name: other, image: "registry.test/app:2", args: [pause]}`))
	before := restarted(t, c, namespace, "web", 0)
	if v := served(t, before); v != "1" {
		t.Fatalf("serves %q", v)
	}
	patchImage(t, c, namespace, "web", appVersion("3"))
	after := restarted(t, c, namespace, "web", 1)
	if v := served(t, after); v != "3" {
		t.Errorf("serves %q after the patch", v)
	}
	if before.UID != after.UID || before.Status.PodIP != after.Status.PodIP {
		t.Error("the pod is another one")
	}
	if a, b := byName(before.Status.ContainerStatuses, "other"), byName(after.Status.ContainerStatuses, "other"); a.ContainerID != b.ContainerID {
		t.Error("the other container is another one")
	}
	patchImage(t, c, namespace, "web", appVersion("missing"))
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		s := byName(p.Status.ContainerStatuses, "app")
		return s.State.Running == nil && !s.Ready && s.State.Waiting != nil
	})
}

// Node facts 3.2.
func TestRealAliasRestart(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", "", ""))
	before := restarted(t, c, namespace, "web", 0)
	for i, alias := range []string{
		realnode.Repository + "@" + c.Real.Digests["1"],
		appVersion("1") + "@" + c.Real.Digests["1"],
		appVersion("also-1"),
	} {
		patchImage(t, c, namespace, "web", alias)
		after := restarted(t, c, namespace, "web", int32(i+1))
		a, b := byName(before.Status.ContainerStatuses, "app"), byName(after.Status.ContainerStatuses, "app")
		if a.ImageID != b.ImageID || a.ContainerID == b.ContainerID {
			t.Errorf("%s: image %s to %s, container %s to %s", alias, a.ImageID, b.ImageID, a.ContainerID, b.ContainerID)
		}
	}
}

// Node facts 3.3.
func TestRealNativeSidecars(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", `initContainers:
  - {name: prepare, image: "registry.test/app:1", args: [exit, "0"]}
  - {name: mesh, image: "registry.test/app:2", args: [pause], restartPolicy: Always}`, ""))
	before := restarted(t, c, namespace, "web", 0)
	prepare, mesh := byName(before.Status.InitContainerStatuses, "prepare"), byName(before.Status.InitContainerStatuses, "mesh")
	app := byName(before.Status.ContainerStatuses, "app")
	if ended := prepare.State.Terminated; ended == nil || mesh.State.Running == nil ||
		mesh.State.Running.StartedAt.Before(&ended.FinishedAt) || app.State.Running.StartedAt.Before(&mesh.State.Running.StartedAt) {
		t.Errorf("order of starts: %v, %v, %v", prepare.State, mesh.State, app.State)
	}
	patch := func(name string) {
		body := fmt.Appendf(nil, `{"spec":{"initContainers":[{"name":%q,"image":%q}]}}`, name, appVersion("3"))
		if _, err := c.Client().CoreV1().Pods(namespace).
			Patch(t.Context(), "web", types.StrategicMergePatchType, body, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch("prepare") // accepted, and nothing happens
	patch("mesh")
	after := awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		s := byName(p.Status.InitContainerStatuses, "mesh")
		return s.RestartCount == 1 && s.Ready
	})
	if byName(after.Status.ContainerStatuses, "app").ContainerID != app.ContainerID {
		t.Error("the app restarted with its sidecar")
	}
	if byName(after.Status.InitContainerStatuses, "prepare").RestartCount != 0 {
		t.Error("the finished init container ran again")
	}
}

// Node facts 3.4.
func TestRealImageVolume(t *testing.T) {
	c, namespace := realCluster(t)
	volume := func(name, reference, mounts, args string) string {
		return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  volumes: [{name: data, image: {reference: %q, pullPolicy: IfNotPresent}}]
  containers: [{name: app, image: %q, args: %s, volumeMounts: %s}]
`, name, reference, appVersion("1"), args, mounts)
	}
	const mounted = "[{name: data, mountPath: /volume}]"
	c.Apply(t, namespace, volume("mounted", realnode.DataImage, mounted, "[need, /volume/data/here]"))
	c.Apply(t, namespace, volume("unnoticed", "registry.test/missing:1", "[]", `[exit, "0"]`))
	c.Apply(t, namespace, volume("noticed", "registry.test/missing:1", mounted, `[exit, "0"]`))
	awaitPod(t, c, namespace, "mounted", ready)
	awaitPod(t, c, namespace, "unnoticed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	awaitPod(t, c, namespace, "noticed", func(p *corev1.Pod) bool {
		w := status(p).State.Waiting
		return w != nil && (w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff")
	})
}

// Node facts 3.7.
func TestRealReadinessGate(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", "readinessGates: [{conditionType: example.com/gate}]", ""))
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return status(p).Ready && !ready(p) })
	setGate(t, c, namespace, "web", "True")
	awaitPod(t, c, namespace, "web", ready)
	setGate(t, c, namespace, "web", "False")
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return !ready(p) })
}

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
func TestRealReplicaSetLeavesPatchedPodsAlone(t *testing.T) {
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
func TestRealStatefulSetCountsPatchedPods(t *testing.T) {
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
func TestRealDaemonSetCountsPatchedPods(t *testing.T) {
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
