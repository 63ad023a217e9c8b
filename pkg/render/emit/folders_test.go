package emit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func documents(names ...string) []emit.Document {
	out := make([]emit.Document, len(names))
	for i, n := range names {
		out[i] = emit.Document{Name: n, Body: []byte(n + "\n")}
	}
	return out
}

// below are the files below dir, with slashes, without the record of the run.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && p != dir && d.Name() != ".kubectl-kruise.index" {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFolders: a second run removes what the first wrote and nothing else.
func TestFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var kept []string
	run := func(names ...string) {
		t.Helper()
		stale, err := emit.Folders(t.Context(), dir, documents(names...), stage.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range stale {
			kept = append(kept, filepath.Base(p))
		}
	}
	run("README.md", "a/1.yaml", "a/2.yaml", "b/c/1.yaml", "d/1.yaml", "e/1.yaml")
	for name, text := range map[string]string{"d/mine.txt": "mine", "e/1.yaml": "edited"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("README.md", "a/1.yaml")
	if diff := cmp.Diff([]string{"README.md", "a", "a/1.yaml", "d", "d/mine.txt", "e", "e/1.yaml"}, below(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1.yaml"}, kept); diff != "" {
		t.Errorf("kept: -want +got\n%s", diff)
	}
}

// TestFolders_StayInTheDirectory: neither a link nor a record leads out of the directory.
func TestFolders_StayInTheDirectory(t *testing.T) {
	outside := t.TempDir()
	for name, prepare := range map[string]func(dir string) error{
		"a link in the way": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "a")) },
		"a file in the way": func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o600) },
		"a record with dots": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".kubectl-kruise.index"), []byte(`{"files":{"../x":"sha256:0"}}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			_, err := emit.Folders(t.Context(), dir, documents("a/1.yaml"), stage.Limits{})
			if err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v", err)
			}
			if left := below(t, outside); len(left) > 0 {
				t.Errorf("wrote %q outside", left)
			}
		})
	}
}
