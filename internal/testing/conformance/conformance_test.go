package conformance

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// TestCopy_IsComplete holds the project's own copy against the recordings, when
// these stand beside the project.
func TestCopy_IsComplete(t *testing.T) {
	shared := checkout.Path("..", "shared", "conformance")
	areas, err := os.ReadDir(shared)
	if err != nil {
		t.Skipf("no recordings beside the project: %v", err)
	}
	for _, a := range areas {
		if a.IsDir() {
			t.Run(a.Name(), func(t *testing.T) { compareCopy(t, os.DirFS(filepath.Join(shared, a.Name())), a.Name()) })
		}
	}
}

func compareCopy(t *testing.T, recorded fs.FS, area string) {
	t.Helper()
	archive, err := zip.OpenReader(checkout.Path("testdata", "conformance", area+".zip"))
	if err != nil {
		t.Fatalf("%v (hack/conformance.sh makes it)", err)
	}
	defer func() { _ = archive.Close() }()
	err = fs.WalkDir(recorded, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want, err := fs.ReadFile(recorded, path)
		if err != nil {
			return err
		}
		if got, err := fs.ReadFile(archive, path); err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s: the copy differs (%v); run hack/conformance.sh", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name      string
		want, got any
		equal     bool
	}{
		{"same", map[string]any{"a": int64(1)}, map[string]any{"a": int64(1)}, true},
		{"placeholder", "web-<random>", "web-x7k2p", true},
		{"placeholder inside", `{"h":"<hash>","n":1}`, `{"h":"abc","n":1}`, true},
		{"placeholder does not hide the rest", "web-<random>-a", "web-x7k2p-b", false},
		{"value", map[string]any{"a": int64(1)}, map[string]any{"a": int64(2)}, false},
		{"missing key", map[string]any{"a": int64(1)}, map[string]any{}, false},
		{"list order", []any{"a", "b"}, []any{"b", "a"}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if diff := Diff(tc.want, tc.got); (diff == "") != tc.equal {
				t.Errorf("equal = %v, want %v\n%s", diff == "", tc.equal, diff)
			}
		})
	}
}

// TestDocs_ExpandAliases: an alias is what it names.
func TestDocs_ExpandAliases(t *testing.T) {
	docs, err := Docs([]byte("a: &x [1]\nb: *x\n"))
	if err != nil {
		t.Fatal(err)
	}
	list := []any{int64(1)}
	if err := Different("documents", Diff([]map[string]any{{"a": list, "b": list}}, docs)); err != nil {
		t.Error(err)
	}
}
