// Package releases tries the verbs that write on API servers with the definitions of
// releases of Kruise: what they send must be served there, in fields that are there.
package releases

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// bed is a namespace of a cluster with the definitions of a release. Nothing acts on
// objects of Kruise there.
type bed struct {
	*cluster.Cluster
	release, namespace string
}

func newBed(t *testing.T, release string) *bed {
	t.Helper()
	c, namespace := cluster.Shared(t, kruise.Release(t, release))
	return &bed{c, release, namespace}
}

// patience bounds one call; it only ends what would hang.
const patience = 2 * time.Minute

// run runs the product with a text on its input.
func (b *bed) run(t *testing.T, in string, args ...string) (out, said string, err error) {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", b.Kubeconfig(), "-n", b.namespace}, args...)...)
	var printed, errors bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &printed, &errors
	err = cmd.Run()
	return printed.String(), errors.String(), err
}

// pipe runs what must succeed. What it is warned of as an unknown field fails the test.
func (b *bed) pipe(t *testing.T, in string, args ...string) (out string, ok bool) {
	t.Helper()
	out, said, err := b.run(t, in, args...)
	if err != nil || strings.Contains(said, "unknown field") {
		t.Errorf("%s: %q: %v\n%s%s", b.release, args, err, out, said)
		return out, false
	}
	return out, true
}

// refused runs what must fail, and returns what it said.
func (b *bed) refused(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, said, err := b.run(t, in, args...)
	if err == nil {
		t.Errorf("%s: %q succeeded", b.release, args)
	}
	return out + said
}

// call runs the product.
func (b *bed) call(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := b.pipe(t, "", args...)
	return out
}

// get reads an object in the version that it is asked for.
func (b *bed) get(t *testing.T, version, plural, name string) *unstructured.Unstructured {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	u, err := client.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: plural}).
		Namespace(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return u
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
