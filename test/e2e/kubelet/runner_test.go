package kubelet

import (
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

const (
	runnerImage = "registry.test/kubectl-kruise:v9"
	// serverName is a name of the API server in its certificate.
	serverName = "kubernetes"
)

const nativeWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "IMAGE:1"}]
`

// TestRunner_ContinuesInTheNextPod: the Job of a detached rollout carries it out in a pod of a real kubelet: with
// the program alone in its image, not as root, with a read-only root file system and the projected
// token. A pod that is deleted lets go of the rollout, and the Job's next pod completes it.
func TestRunner_ContinuesInTheNextPod(t *testing.T) {
	b := newBed(t)
	b.Apply(t, b.namespace, b.documents(nativeWeb))
	b.atRest(t, 2)
	binary, err := product.Binary()
	must(t, err)
	program, err := os.ReadFile(binary)
	must(t, err)
	must(t, b.Real.Import(t.Context(), runnerImage, map[string]string{"usr/local/bin/kubectl-kruise": string(program)}))
	runners := b.runners(t)
	made := b.call(t, "rollout", "run", "deployment/web", "--image", "app="+b.image("2"), "--driver", "native", "--steps", "50%,100%", "--pause-after", "50%", "--pull-images", "never",
		"--detach", "--manifest", "--runner-namespace", runners, "--runner-image", runnerImage)
	made.Wants(t, 0)
	plan, job := b.reachable(t, made.Out)
	_, err = b.Client().CoreV1().ConfigMaps(runners).Create(t.Context(), plan, metav1.CreateOptions{})
	must(t, err)
	_, err = b.Client().BatchV1().Jobs(runners).Create(t.Context(), job, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { b.logRunners(t, runners) })

	first := b.awaitRunner(t, runners, "")
	b.awaitUpdated(t, 1)
	must(t, b.Client().CoreV1().Pods(runners).Delete(t.Context(), first, metav1.DeleteOptions{}))
	second := b.awaitRunner(t, runners, first)
	b.call(t, "rollout", "status", "deployment/web", "--success-on", "paused").Wants(t, 0)
	b.call(t, "rollout", "promote", "deployment/web", "--no-wait").Wants(t, 0)
	done, err := cluster.Await(t.Context(), b.Client().BatchV1().Jobs(runners), job.Name, func(_ watch.EventType, j *batchv1.Job) bool {
		return j.Status.CompletionTime != nil || j.Status.Failed > 0
	})
	must(t, err)
	if done.Status.Succeeded != 1 || done.Status.Failed != 0 {
		t.Errorf("%d pods of the Job have succeeded and %d failed, the last is %s", done.Status.Succeeded, done.Status.Failed, second)
	}
	for _, p := range b.atRest(t, 2) {
		if !b.runs(reported(p, "app"), "2") {
			t.Errorf("%s runs %s", p.Name, reported(p, "app").Image)
		}
	}
}

// runners is a namespace at the restricted level with what `rbac --runner` prints.
func (b *bed) runners(t *testing.T) string {
	t.Helper()
	namespace := b.namespace + "-runners"
	b.Apply(t, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+namespace+", labels: {pod-security.kubernetes.io/enforce: restricted}}\n")
	said := product.Call(t, "rbac", "--runner", "--runner-namespace", namespace, "--driver", "native", "--features", "", "--in", b.namespace, "--name", namespace)
	said.Wants(t, 0)
	b.Apply(t, namespace, said.Out)
	return namespace
}

// reachable are the objects of a manifest, with the one change that the API server of a test
// needs: it listens on loopback only, and there is neither a Service nor DNS, so pods reach it by
// the address of the node, under a name that its certificate has.
func (b *bed) reachable(t *testing.T, manifest string) (*corev1.ConfigMap, *batchv1.Job) {
	t.Helper()
	plans, jobs, _ := strings.Cut(manifest, "\n---\napiVersion: batch/v1\n")
	var plan corev1.ConfigMap
	must(t, yaml.Unmarshal([]byte(plans), &plan))
	var job batchv1.Job
	must(t, yaml.UnmarshalStrict([]byte("apiVersion: batch/v1\n"+jobs), &job))
	pod := &job.Spec.Template.Spec
	pod.HostAliases = []corev1.HostAlias{{IP: b.Real.Address, Hostnames: []string{serverName}}}
	pod.Containers[0].Env = append(pod.Containers[0].Env,
		corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: serverName}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: b.forward(t)})
	return &plan, &job
}

// forward passes connections to the node's address on to the API server, and returns the port.
func (b *bed) forward(t *testing.T) string {
	t.Helper()
	server, err := url.Parse(b.Config().Host)
	must(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort(b.Real.Address, "0"))
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() }) // the test is over
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(from, server.Host)
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return port
}

// pass copies both ways until one side ends.
func pass(from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // either side may end at any time
			ended <- struct{}{}
		}()
	}
	<-ended
}

// awaitRunner waits for a pod of the Job that runs, other than one, and returns its name.
func (b *bed) awaitRunner(t *testing.T, namespace, other string) string {
	t.Helper()
	name := ""
	_, err := cluster.Await(t.Context(), b.Client().CoreV1().Pods(namespace), "", func(_ watch.EventType, p *corev1.Pod) bool {
		name = p.Name
		return p.Name != other && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
	})
	must(t, err)
	return name
}

// awaitUpdated waits until so many ready pods run version 2.
func (b *bed) awaitUpdated(t *testing.T, want int) {
	t.Helper()
	updated := map[string]bool{}
	_, err := cluster.Await(t.Context(), b.Client().CoreV1().Pods(b.namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		delete(updated, p.Name)
		if what != watch.Deleted && ready(p) && b.runs(reported(p, "app"), "2") {
			updated[p.Name] = true
		}
		return len(updated) == want
	})
	must(t, err)
}

// logRunners puts what the pods of a Job have said into the log of a test that has failed.
func (b *bed) logRunners(t *testing.T, namespace string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	said, err := exec.Command(b.Kubectl(), "--kubeconfig", b.Kubeconfig(), "-n", namespace, "describe", "pods").CombinedOutput()
	t.Logf("%s\n%v", said, err)
	said, err = exec.Command(b.Kubectl(), "--kubeconfig", b.Kubeconfig(), "-n", namespace, "logs", "-l", "app.kubernetes.io/managed-by=kubectl-kruise", "--tail", "-1").CombinedOutput()
	t.Logf("%s\n%v", said, err)
}
