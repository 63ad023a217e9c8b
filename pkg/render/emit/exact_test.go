package emit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestExact_UnchangedFilesKeepTheirBytes sends odd files through load and emit: what nothing changed leaves
// as the very bytes it came in.
func TestExact_UnchangedFilesKeepTheirBytes(t *testing.T) {
	for name, in := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(string(in), string(stream(t, parse(t, name, in)))); diff != "" {
				t.Errorf("-in +out\n%s", diff)
			}
		})
	}
}

// TestChanged_KeepsTheMeaning sends the same files through the encoder: each object means what
// it meant.
func TestChanged_KeepsTheMeaning(t *testing.T) {
	for name, in := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			want := parse(t, name, in)
			changed := parse(t, name, in)
			for _, r := range changed {
				r.Edit()
			}
			same(t, want, parse(t, "out", stream(t, changed)))
		})
	}
}

func corpus(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "exact", "*"))
	if err != nil || len(paths) == 0 {
		tb.Fatal("no corpus", err)
	}
	files := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		files[filepath.Base(p)] = b
	}
	return files
}

func parse(tb testing.TB, name string, in []byte) []*resource.Resource {
	tb.Helper()
	rs, err := load.Parse(name, in)
	if err != nil {
		tb.Fatal(err)
	}
	if len(rs) == 0 {
		tb.Fatal("no objects")
	}
	return rs
}

func stream(tb testing.TB, rs []*resource.Resource) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := emit.Stream(&b, rs, stage.Limits{}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func same(tb testing.TB, want, got []*resource.Resource) {
	tb.Helper()
	if len(want) != len(got) {
		tb.Fatalf("%d objects became %d", len(want), len(got))
	}
	for i := range want {
		if !tree.Equal(want[i].Node(), got[i].Node()) {
			tb.Errorf("object %d differs: -want +got\n%s", i, cmp.Diff(tree.Value(want[i].Node()), tree.Value(got[i].Node())))
		}
	}
}
