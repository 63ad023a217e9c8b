// Package apply has suites of the verb apply against a real API server.
package apply

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// bed is a namespace of a cluster with Kruise's API, and stand-ins for Kruise.
type bed struct {
	*cluster.Cluster
	namespace string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	return &bed{c, namespace}
}

// answer is what a call of the verb came to.
type answer struct {
	code     int
	out, err string
}

// apply calls the verb with manifests on its input.
func (b *bed) apply(t *testing.T, manifests string, args ...string) answer {
	t.Helper()
	how := []string{"apply", "-f", "-"}
	if !slices.Contains(args, "--timeout") {
		how = append(how, "--timeout", "2m")
	}
	return b.run(t, manifests, append(how, args...)...)
}

// run calls the binary.
func (b *bed) run(t *testing.T, input string, args ...string) answer {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", b.Kubeconfig(), "-n", b.namespace)...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	return answer{code, out.String(), said.String()}
}

// done is a call that must succeed.
func (b *bed) done(t *testing.T, manifests string, args ...string) answer {
	t.Helper()
	a := b.apply(t, manifests, append(args, "--yes")...)
	if a.code != 0 {
		t.Fatalf("%q: exit %d\n%s%s", args, a.code, a.out, a.err)
	}
	return a
}

func (a answer) is(t *testing.T, code int, said ...string) {
	t.Helper()
	for _, text := range said {
		if !strings.Contains(a.err, text) {
			t.Errorf("lacks %q:\n%s", text, a.err)
		}
	}
	if a.code != code {
		t.Fatalf("exit %d, want %d\n%s%s", a.code, code, a.out, a.err)
	}
}

func (a answer) has(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+a.out, "\n"+line+"\n") {
			t.Errorf("the report lacks %q:\n%s", line, a.out)
		}
	}
}

func (b *bed) configMap(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	m, err := b.Client().CoreV1().ConfigMaps(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(t, err)
	return m
}

func (b *bed) deployment(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	d, err := b.Client().AppsV1().Deployments(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return d
}

func (b *bed) cloneSet(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	u, err := client.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}).
		Namespace(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return u
}

// images of the pods that are not being deleted, each with how many run it.
func (b *bed) images(t *testing.T) map[string]int {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]int{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			out[list.Items[i].Spec.Containers[0].Image]++
		}
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bed) cloneSets(t *testing.T) []string {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	list, err := client.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}).
		Namespace(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].GetName())
	}
	return out
}
