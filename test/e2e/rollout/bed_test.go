// Package rollout drives rollouts against a real API server: Kubernetes' own
// controllers, stand-ins for Kruise's, and modelled nodes.
package rollout

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

const (
	web1 = "registry.example.com/web:1"
	web2 = "registry.example.com/web:2"
)

// TestMain runs more tests at a time than there are cores: most of what they do is to
// wait for pods, leases and budgets.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	hermetic.Main(m)
}

// workload is a document with its resource.
type workload struct {
	text     string
	resource schema.GroupVersionResource
}

func kruiseKind(kind, plural, strategy string) workload {
	return workload{
		text: document(kruiseGroup+"/v1beta1", kind, strategy), resource: schema.GroupVersionResource{Group: kruiseGroup, Version: "v1beta1", Resource: plural},
	}
}

func nativeKind(kind, plural, strategy string) workload {
	return workload{text: document("apps/v1", kind, strategy), resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: plural}}
}

const kruiseGroup = "apps.kruise.io"

func document(apiVersion, kind, strategy string) string {
	replicas := "replicas: 4"
	if kind == "DaemonSet" {
		replicas = ""
	}
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: web}
spec:
  %s
  selector: {matchLabels: {app: web}}
  %s
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "%s"}]}
`, apiVersion, kind, replicas, strategy, web1)
}

// bed is a workload at rest in a namespace of its own.
type bed struct {
	*testcluster.Cluster
	namespace string
	object    kube.Object
	// text is the workload, next what it becomes.
	text, next string

	mu   sync.Mutex
	told []event.Event
}

func newBed(t *testing.T, w workload) *bed {
	t.Helper()
	c, namespace := shared(t)
	return bedIn(t, c, namespace, w)
}

// shared is the cluster with Kruise of all tests here; the audit log is of those that look at it.
func shared(t *testing.T) (c *testcluster.Cluster, namespace string) {
	t.Helper()
	return testcluster.Shared(t, testcluster.WithAudit(), kruise.API(), standin.Controllers())
}

// withoutKruise is the cluster of those that have none. It is as well without the feature gate that
// [TestServer_DropsMaxUnavailable] is about.
func withoutKruise(t *testing.T) (c *testcluster.Cluster, namespace string) {
	t.Helper()
	return testcluster.Shared(t, testcluster.WithFeatureGate("MaxUnavailableStatefulSet", false))
}

// bedIn is a bed in a cluster of the test's own choice.
func bedIn(t *testing.T, c *testcluster.Cluster, namespace string, w workload) *bed {
	t.Helper()
	b := &bed{Cluster: c, namespace: namespace, text: w.text, next: strings.ReplaceAll(w.text, web1, web2)}
	c.Apply(t, namespace, w.text)
	read := b.read(t, w.text)
	b.object = kube.Object{Ref: read.Ref, Resource: w.resource}
	await(t, c, namespace, wantsPods(t, c, w.text))
	return b
}

// wantsPods is how many pods a document asks for, which is one on each node for a
// DaemonSet.
func wantsPods(t *testing.T, c *testcluster.Cluster, text string) int {
	t.Helper()
	_, after, ok := strings.Cut(text, "replicas: ")
	if !ok {
		nodes, err := c.Client().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		must(t, err)
		return len(nodes.Items)
	}
	n := 0
	_, err := fmt.Sscan(after, &n)
	must(t, err)
	return n
}

// await waits until the namespace has so many pods, all of them ready with the old
// image.
func await(t *testing.T, c *testcluster.Cluster, namespace string, pods int) {
	t.Helper()
	now := map[types.UID]bool{}
	_, err := testcluster.Await(t.Context(), c.Client().CoreV1().Pods(namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		if now[p.UID] = ready(p, web1); what == watch.Deleted || p.DeletionTimestamp != nil {
			delete(now, p.UID)
		}
		return len(now) == pods && !slices.Contains(slices.Collect(maps.Values(now)), false)
	})
	must(t, err)
}

// read reads a document as it is in the bed's namespace.
func (b *bed) read(t *testing.T, text string) *cluster.Workload {
	t.Helper()
	n, err := yaml.Parse(text)
	must(t, err)
	must(t, n.SetNamespace(b.namespace))
	w, err := cluster.ReadWorkload(n.YNode())
	must(t, err)
	return w
}

// open watches the workload.
func (b *bed) open(t *testing.T) *kube.Cluster {
	t.Helper()
	c, err := kube.Open(t.Context(), b.Config(), kube.Options{Target: b.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test", VerifyPermissions: verify.Permissions{Commands: true}})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// plan makes a plan for a new image, and records it.
func (b *bed) plan(t *testing.T, c *kube.Cluster, policy plan.Policy) plan.Plan {
	t.Helper()
	return b.planOf(t, c, policy, func(*cluster.Workload) {})
}

// planOf makes a plan for a new image and whatever else change does to the workload.
func (b *bed) planOf(t *testing.T, c *kube.Cluster, policy plan.Policy, change func(*cluster.Workload)) plan.Plan {
	t.Helper()
	s, err := c.Observe(t.Context(), b.object.Ref)
	must(t, err)
	desired, err := plan.WithTemplate(s.Workload, b.read(t, b.next).Template)
	must(t, err)
	change(desired)
	p, err := plan.Build(desired, s, policy)
	must(t, err)
	must(t, c.Begin(t.Context(), b.object.Ref, p))
	return p
}

func (b *bed) emit(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, e)
}

// run drives a plan.
func (b *bed) run(ctx context.Context, t *testing.T, c apply.Cluster, p plan.Plan, o apply.Options) apply.Result {
	t.Helper()
	o.Emit = b.emit
	res, err := apply.Run(ctx, c, b.object.Ref, p, o)
	must(t, err)
	return res
}

// pods are those of the workload that are not being deleted.
func (b *bed) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	must(t, err)
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// running counts the pods that are ready with an image.
func running(pods []corev1.Pod, image string) int {
	n := 0
	for i := range pods {
		if ready(&pods[i], image) {
			n++
		}
	}
	return n
}

// ready reports whether a pod is ready with an image.
func ready(p *corev1.Pod, image string) bool {
	return p.Spec.Containers[0].Image == image && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// lookAgain is after how long something is looked at again that tells of no change itself; each look is a request, or a process.
const lookAgain = 200 * time.Millisecond

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func steps(t *testing.T, text ...string) []plan.PolicyStep {
	t.Helper()
	var out []plan.PolicyStep
	for _, s := range text {
		a, err := plan.ParseAmount(s)
		must(t, err)
		out = append(out, plan.PolicyStep{To: a})
	}
	return out
}
