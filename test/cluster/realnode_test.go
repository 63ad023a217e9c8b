package cluster_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
