// Package kubelet tells the stories of the driver client on a real kubelet: what the
// product does there, by what the kubelet reports. Where the machine cannot have one,
// the tests are skipped and say what is missing.
package kubelet

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestMain runs all stories at once: most of what they do is to wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	hermetic.Main(m)
}

// bed is a namespace on a real node, with a repository of its own, from which nothing
// has been pulled.
type bed struct {
	*cluster.Cluster
	namespace, repository string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	t.Parallel()
	c, namespace := cluster.Shared(t, cluster.WithRealNode(t))
	return &bed{c, namespace, c.Real.Registry + "/" + namespace}
}

// image is the test image in a version, 1 to 4.
func (b *bed) image(version string) string { return b.repository + ":" + version }

// documents have IMAGE:1 and the like filled in.
func (b *bed) documents(text string) string { return strings.ReplaceAll(text, "IMAGE", b.repository) }

// rendered applies what documents of Kruise become for the driver client.
func (b *bed) rendered(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kruise.yaml")
	must(t, os.WriteFile(file, []byte(b.documents(text)), 0o600))
	made := product.Call(t, "render", "-f", file, "--driver", "client")
	made.Wants(t, 0)
	b.Apply(t, b.namespace, made.Out)
}

// call runs the product in the namespace.
func (b *bed) call(t *testing.T, args ...string) product.Said {
	t.Helper()
	return product.Call(t, append(args, "--kubeconfig", b.Kubeconfig(), "-n", b.namespace)...)
}

// atRest waits for so many pods of app web that are ready and not on their way out, and
// returns them by name.
func (b *bed) atRest(t *testing.T, want int) map[string]*corev1.Pod {
	t.Helper()
	now := map[string]*corev1.Pod{}
	_, err := cluster.Await(t.Context(), b.Client().CoreV1().Pods(b.namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		if p.Labels["app"] == "web" {
			now[p.Name] = p
		}
		if what == watch.Deleted {
			delete(now, p.Name)
		}
		return len(now) == want && !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(p *corev1.Pod) bool {
			return p.DeletionTimestamp != nil || !ready(p)
		})
	})
	must(t, err)
	return now
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// reported is the kubelet's word about a container of a pod.
func reported(p *corev1.Pod, name string) corev1.ContainerStatus {
	list := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	if i := slices.IndexFunc(list, func(s corev1.ContainerStatus) bool { return s.Name == name }); i >= 0 {
		return list[i]
	}
	return corev1.ContainerStatus{}
}

// runs reports whether a container is of the test image in a version. The kubelet may
// name it by any repository that has it.
func (b *bed) runs(s corev1.ContainerStatus, version string) bool {
	return strings.HasSuffix(s.ImageID, "@"+b.Real.Digests[version])
}

// awaitEvents waits until the kubelet has told as many times of a reason, with these
// words, about a pod; they come on their own way, after what they tell of.
func (b *bed) awaitEvents(t *testing.T, uid types.UID, reason, words string, want int32) {
	t.Helper()
	seen := map[types.UID]int32{}
	_, err := cluster.Await(t.Context(), b.Client().CoreV1().Events(b.namespace), "", func(_ watch.EventType, e *corev1.Event) bool {
		if e.InvolvedObject.UID == uid && e.Reason == reason && strings.Contains(e.Message, words) && e.Source.Component == "kubelet" {
			seen[e.UID] = max(e.Count, 1)
		}
		total := int32(0)
		for _, n := range seen {
			total += n
		}
		if total > want {
			t.Errorf("pod %s has %d events %s, want %d: %s", e.InvolvedObject.Name, total, reason, want, e.Message)
		}
		return total >= want
	})
	if err != nil {
		t.Errorf("%s %q of the pod %s: %v", reason, words, uid, err)
	}
}

// following calls look for all that happens to pods, until the function returned is
// called.
func (b *bed) following(t *testing.T, look func(watch.EventType, *corev1.Pod)) (over func()) {
	t.Helper()
	w, err := b.Client().CoreV1().Pods(b.namespace).Watch(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case e, open := <-w.ResultChan():
				p, is := e.Object.(*corev1.Pod)
				if !open || !is {
					t.Errorf("the watch of pods ended: %v", e.Object)
					return
				}
				look(e.Type, p)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		w.Stop()
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
