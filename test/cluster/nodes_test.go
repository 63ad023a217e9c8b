package cluster_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// deployment is one of n pods of one container.
func deployment(name string, n int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "registry.example.com/app:1"}]
`, name, n)
}

// awaitReady waits until all replicas of a Deployment are ready.
func awaitReady(t *testing.T, c *cluster.Cluster, namespace, name string) {
	t.Helper()
	_, err := cluster.Await(t.Context(), c.Client().AppsV1().Deployments(namespace), name,
		func(_ watch.EventType, d *appsv1.Deployment) bool {
			return d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == *d.Spec.Replicas &&
				d.Status.UpdatedReplicas == *d.Spec.Replicas
		})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitPod waits for a condition of one pod.
func awaitPod(t *testing.T, c *cluster.Cluster, namespace, name string, holds func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	pod, err := cluster.Await(t.Context(), c.Client().CoreV1().Pods(namespace), name,
		func(e watch.EventType, p *corev1.Pod) bool { return e != watch.Deleted && holds(p) })
	if err != nil {
		t.Fatalf("%v\n%+v", err, pod)
	}
	return pod
}

// awaitGone waits until a pod is not there.
func awaitGone(t *testing.T, c *cluster.Cluster, namespace, name string) {
	t.Helper()
	if err := cluster.AwaitGone(t.Context(), c.Client().CoreV1().Pods(namespace), name, &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// status is the status of a pod's only container.
func status(p *corev1.Pod) corev1.ContainerStatus {
	if len(p.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return p.Status.ContainerStatuses[0]
}

func TestDeployment_StartsAndEnds(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, strings.Replace(deployment("web", 3), "      containers:", `      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, minDomains: 3, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers:`, 1))
	awaitReady(t, c, namespace, "web")
	zones := map[string]bool{}
	pods, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		zones[p.Labels[corev1.LabelTopologyZone]] = true
		if p.Status.PodIP == "" || status(&p).ImageID == "" {
			t.Errorf("%s: address %q, image ID %q", p.Name, p.Status.PodIP, status(&p).ImageID)
		}
	}
	if len(zones) != 3 {
		t.Errorf("pods are in zones %v", zones)
	}
	name := pods.Items[0].Name
	if err := c.Client().CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, namespace, name)
	awaitReady(t, c, namespace, "web")
}

// pod is a bare pod with further lines of metadata and spec.
func pod(name, metadata, spec string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, %s}
spec:
  terminationGracePeriodSeconds: 1
  %s
  containers: [{name: app, image: "registry.example.com/app:1", resources: {requests: {cpu: 10m}}}]
`, name, metadata, spec)
}

func TestImage_ChangesInPlace(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, pod("web", "", ""))
	before := awaitPod(t, c, namespace, "web", ready)
	patchImage(t, c, namespace, "web", "registry.example.com/app:2")
	after := awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		return ready(p) && status(p).Image == "registry.example.com/app:2" && status(p).RestartCount == 1
	})
	if before.UID != after.UID || before.Status.PodIP != after.Status.PodIP {
		t.Error("the pod is another one")
	}
	if a, b := status(before), status(after); a.ContainerID == b.ContainerID || a.ImageID == b.ImageID {
		t.Errorf("container %s and image %s are the same", b.ContainerID, b.ImageID)
	}
}

func patchImage(t *testing.T, c *cluster.Cluster, namespace, name, image string) {
	t.Helper()
	body := fmt.Appendf(nil, `{"spec":{"containers":[{"name":"app","image":%q}]}}`, image)
	if _, err := c.Client().CoreV1().Pods(namespace).
		Patch(t.Context(), name, types.StrategicMergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestReadinessGate_Decides(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, pod("web", "", "readinessGates: [{conditionType: example.com/gate}]"))
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return status(p).Ready && !ready(p) })
	setGate(t, c, namespace, "web", "True")
	awaitPod(t, c, namespace, "web", ready)
	setGate(t, c, namespace, "web", "False")
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool { return !ready(p) && status(p).Ready })
}

func setGate(t *testing.T, c *cluster.Cluster, namespace, name, value string) {
	t.Helper()
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"example.com/gate","status":%q}]}}`, value)
	if _, err := c.Client().CoreV1().Pods(namespace).
		Patch(t.Context(), name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

func TestResize_InPlace(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, pod("web", "", ""))
	awaitPod(t, c, namespace, "web", ready)
	resize := func(cpu string) error {
		body := fmt.Appendf(nil, `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
		_, err := c.Client().CoreV1().Pods(namespace).
			Patch(t.Context(), "web", types.StrategicMergePatchType, body, metav1.PatchOptions{}, "resize")
		return err
	}
	if err := resize("2"); err != nil {
		t.Fatal(err)
	}
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		r := status(p).Resources
		return r != nil && r.Requests.Cpu().String() == "2" && status(p).RestartCount == 0
	})
	if err := resize("100"); !apierrors.IsForbidden(err) {
		t.Errorf("more than the node has: %v", err)
	}
}

func TestLogs_AndExecWork(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, pod("web", `annotations: {lab.test/log: "hello from the script"}`, ""))
	awaitPod(t, c, namespace, "web", ready)
	log, err := c.Client().CoreV1().Pods(namespace).GetLogs("web", &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(log, []byte("hello from the script")) {
		t.Errorf("logs: %s", log)
	}
	if out := execute(t, c, namespace, "web", "echo", "a", "b"); out != "a b\n" {
		t.Errorf("exec: %q", out)
	}
	execute(t, c, namespace, "web", "kill", "-TERM", "1")
	awaitPod(t, c, namespace, "web", func(p *corev1.Pod) bool {
		return ready(p) && status(p).RestartCount == 1 && status(p).LastTerminationState.Terminated.ExitCode == 143
	})
}

func execute(t *testing.T, c *cluster.Cluster, namespace, pod string, command ...string) string {
	t.Helper()
	request := c.Client().CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	stream, err := remotecommand.NewWebSocketExecutor(c.Config(), "GET", request.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if err := stream.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	return out.String()
}

func TestJob_Completes(t *testing.T) {
	c, namespace := cluster.Shared(t)
	c.Apply(t, namespace, `
apiVersion: batch/v1
kind: Job
metadata: {name: task}
spec:
  completions: 3
  parallelism: 2
  template:
    metadata: {annotations: {lab.test/run: 50ms}}
    spec:
      restartPolicy: Never
      containers: [{name: app, image: "registry.example.com/app:1"}]
`)
	jobs := c.Client().BatchV1().Jobs(namespace)
	_, err := cluster.Await(t.Context(), jobs, "task", func(_ watch.EventType, j *batchv1.Job) bool { return j.Status.Succeeded == 3 })
	if err != nil {
		t.Fatal(err)
	}
}
