package emit

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

var errStop = errors.New("stop")

// after returns a question that is answered with errStop from the n-th time on.
func after(n int) func() error {
	return func() error {
		if n--; n < 0 {
			return errStop
		}
		return nil
	}
}

func TestUnless(t *testing.T) {
	for n, want := range []string{"", "a b"} {
		var b bytes.Buffer
		w := Unless(after(n), &b)
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
		err := Dir(dir, []*resource.Resource{object("a"), object("b"), object("c")}, DirOptions{Stop: after(n)})
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
		if got := strings.Join(names, " "); got != want || errors.Is(err, errStop) != (n < 4) {
			t.Errorf("stopped after %d: %v, %s", n, err, got)
		}
	}
}
