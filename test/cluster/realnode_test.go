package cluster_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

// These tests hold the facts that the client driver relies on: what a real
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
func TestRealImagePatch_RestartsTheContainer(t *testing.T) {
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
	for reason, image := range map[string]string{"ErrImagePull": appVersion("missing"), "InvalidImageName": "registry.test/Not-A-Name:1"} {
		patchImage(t, c, namespace, "web", image)
		awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
			s := byName(p.Status.ContainerStatuses, "app")
			return s.State.Running == nil && !s.Ready && s.State.Waiting != nil && s.State.Waiting.Reason == reason
		})
	}
}

// TestRealImagePatch_TakesTime: the generation is observed and the pod stays Ready
// while the old container still has its preStop hook to run. It also holds where
// the restart policy is Never.
func TestRealImagePatch_TakesTime(t *testing.T) {
	c, namespace := realCluster(t)
	const hook = 8
	document := strings.Replace(realPod("web", "restartPolicy: Never", ""), "image:",
		fmt.Sprintf("lifecycle: {preStop: {sleep: {seconds: %d}}}, image:", hook), 1)
	c.Apply(t, namespace, strings.Replace(document, "GracePeriodSeconds: 1", "GracePeriodSeconds: 30", 1))
	before := restarted(t, c, namespace, "web", 0)
	asked := time.Now()
	patchImage(t, c, namespace, "web", appVersion("2"))
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		return p.Generation > before.Generation && p.Status.ObservedGeneration == p.Generation &&
			ready(p) && status(p).ContainerID == status(before).ContainerID
	})
	after := restarted(t, c, namespace, "web", 1)
	ended := status(after).LastTerminationState.Terminated
	if v := served(t, after); v != "2" || ended == nil {
		t.Fatalf("serves %q, last end %v", v, ended)
	}
	// Both clocks are this machine's; the API tells whole seconds.
	if took := ended.FinishedAt.Sub(asked); took < (hook-1)*time.Second {
		t.Errorf("ended after %s, the hook takes %d seconds", took, hook)
	}
}

// Node facts 3.2.
func TestRealAlias_RestartsTheContainer(t *testing.T) {
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
		if a.Image != b.Image {
			t.Errorf("%s: the status tells %s, before %s", alias, b.Image, a.Image)
		}
	}
	// The same content by a name in another repository has to be pulled.
	patchImage(t, c, namespace, "web", "registry.test/elsewhere@"+c.Real.Digests["1"])
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		w := byName(p.Status.ContainerStatuses, "app").State.Waiting
		return w != nil && w.Reason == "ErrImagePull"
	})
}

// Node facts 3.3.
func TestRealNativeSidecars_StartFirst(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", `initContainers:
  - {name: prepare, image: "registry.test/app:1", args: [exit, "0"]}
  - name: mesh
    image: "registry.test/app:2"
    restartPolicy: Always
    startupProbe: {httpGet: {path: /, port: 8080}, initialDelaySeconds: 3, periodSeconds: 1, failureThreshold: 100}
  - {name: second, image: "registry.test/app:2", args: [pause], restartPolicy: Always}`, ""))
	before := restarted(t, c, namespace, "web", 0)
	init := before.Status.InitContainerStatuses
	prepare, mesh, second := byName(init, "prepare"), byName(init, "mesh"), byName(init, "second")
	app := byName(before.Status.ContainerStatuses, "app")
	if prepare.State.Terminated == nil || mesh.State.Running == nil || second.State.Running == nil {
		t.Fatalf("states: %v, %v, %v", prepare.State, mesh.State, second.State)
	}
	// What follows a sidecar waits for its start-up probe, here 3 seconds.
	started := mesh.State.Running.StartedAt
	if started.Before(&prepare.State.Terminated.FinishedAt) || second.State.Running.StartedAt.Sub(started.Time) < 2*time.Second ||
		app.State.Running.StartedAt.Before(&second.State.Running.StartedAt) {
		t.Errorf("order of starts: %v, %v, %v, %v", prepare.State, mesh.State, second.State, app.State)
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
	if byName(after.Status.ContainerStatuses, "app").ContainerID != app.ContainerID ||
		byName(after.Status.InitContainerStatuses, "second").ContainerID != second.ContainerID {
		t.Error("another container restarted with the sidecar")
	}
	if byName(after.Status.InitContainerStatuses, "prepare").RestartCount != 0 {
		t.Error("the finished init container ran again")
	}
}

// Node facts 3.4.
func TestRealImageVolume_IsMounted(t *testing.T) {
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
func TestRealReadinessGate_Decides(t *testing.T) {
	c, namespace := realCluster(t)
	c.Apply(t, namespace, realPod("web", "readinessGates: [{conditionType: example.com/gate}]", ""))
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return status(p).Ready && !ready(p) })
	setGate(t, c, namespace, "web", "True")
	awaitPod(t, c, namespace, "web", ready)
	setGate(t, c, namespace, "web", "False")
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return !ready(p) })
}
