package emit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ending is a context that ends after the given number of questions.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestUnless(t *testing.T) {
	for n, want := range []string{"", "a b"} {
		var b bytes.Buffer
		w := Unless(&ending{t.Context(), n}, &b)
		for _, part := range []string{"a", " b"} {
			_, _ = w.Write([]byte(part))
		}
		if b.String() != want {
			t.Errorf("stopped after %d: %q", n, b.String())
		}
	}
}

// TestDir_IsCompleteOrEmptyWhenStopped: whenever a directory is stopped, it holds all of the files or none.
func TestDir_IsCompleteOrEmptyWhenStopped(t *testing.T) {
	object := func(name string) *resource.Resource {
		return resource.Derived(tree.Map("apiVersion", "v1", "kind", "ConfigMap", "metadata", tree.Map("name", name)), &resource.Resource{})
	}
	for n := range 5 {
		dir := t.TempDir()
		_, err := Dir(&ending{t.Context(), n}, dir, []*resource.Resource{object("a"), object("b"), object("c")}, DirOptions{})
		entries, failed := os.ReadDir(dir)
		if failed != nil {
			t.Fatal(failed)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		want := ""
		if n == 4 {
			want = ".kubectl-kruise.index configmap_a.yaml configmap_b.yaml configmap_c.yaml"
		}
		if got := strings.Join(names, " "); got != want || errors.Is(err, context.Canceled) != (n < 4) {
			t.Errorf("stopped after %d: %v, %s", n, err, got)
		}
	}
}
