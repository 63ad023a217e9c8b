package load_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// FuzzLoad holds that no text makes load panic, that each document leaves as
// the bytes it came in, and that objects mean the same after they were written
// out and read again, as bytes or through the encoder.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "emit", "testdata", "exact", "*"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no corpus", err)
	}
	texts := []string{"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod # c\n  metadata: {name: a}\n"}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		in := []byte(text)
		objects, err := load.Parse("in", in)
		if err != nil || len(objects) == 0 {
			return
		}
		bytesKept(t, objects)
		again(t, objects)
		changed, err := load.Parse("in", in)
		if err != nil {
			t.Fatal("a second reading fails:", err)
		}
		for _, r := range changed {
			r.Edit()
		}
		again(t, changed)
	})
}

func bytesKept(t *testing.T, objects []*resource.Resource) {
	t.Helper()
	for _, r := range objects {
		if r.Raw() == nil {
			continue
		}
		if out := text(t, []*resource.Resource{r}); !bytes.Equal(out, r.Raw()) {
			t.Fatalf("%q became %q", r.Raw(), out)
		}
	}
}

func again(t *testing.T, objects []*resource.Resource) {
	t.Helper()
	out := text(t, objects)
	got, err := load.Parse("out", out)
	if err != nil {
		t.Fatalf("the output cannot be read: %v\n%s", err, out)
	}
	if len(got) != len(objects) {
		t.Fatalf("%d objects became %d\n%s", len(objects), len(got), out)
	}
	for i, want := range objects {
		if !tree.Equal(want.Node(), got[i].Node()) {
			t.Fatalf("object %d changed its meaning:\n%s\n%s", i, cmp.Diff(tree.Value(want.Node()), tree.Value(got[i].Node())), out)
		}
	}
}

func text(t *testing.T, objects []*resource.Resource) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := emit.Stream(&b, objects, stage.Limits{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
