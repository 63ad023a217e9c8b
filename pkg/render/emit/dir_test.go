package emit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// object returns one of the API version and kind, named [namespace/]name.
func object(apiVersion, kind, name string) *resource.Resource {
	m := tree.Map()
	if ns, rest, ok := strings.Cut(name, "/"); ok {
		tree.Set(m, "namespace", tree.String(ns))
		name = rest
	}
	if name != "" {
		tree.Set(m, "name", tree.String(name))
	}
	return resource.Parsed(tree.Map("apiVersion", apiVersion, "kind", kind, "metadata", m), nil, resource.Origin{})
}

// files returns the visible files of a directory with their text.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if e.Name() == ".kubectl-kruise.index" || e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for name := range files(t, dir) {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func write(t *testing.T, dir string, opt emit.DirOptions, rs ...*resource.Resource) (kept []string) {
	t.Helper()
	kept, err := emit.Dir(t.Context(), dir, rs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func TestFileNames(t *testing.T) {
	long := strings.Repeat("x", 253)
	for name, c := range map[string]struct {
		rs   []*resource.Resource
		want []string
	}{
		"namespace, kind, name": {[]*resource.Resource{object("apps/v1", "Deployment", "prod/web"), object("v1", "Namespace", "prod")}, []string{"namespace_prod.yaml", "prod_deployment_web.yaml"}},
		"two groups":            {[]*resource.Resource{object("apps/v1", "Deployment", "a/b"), object("extensions/v1", "Deployment", "a/b")}, []string{"a_deployment_b-27ae4d98.yaml", "a_deployment_b-5a2c4773.yaml"}},
		"case and signs":        {[]*resource.Resource{object("v1", "ClusterRole", "system:a"), object("v1", "ClusterRole", "System:a"), object("v1", "ClusterRole", "../../etc/passwd")}, nil},
		"parts do not mix":      {[]*resource.Resource{object("v1", "A", "b_c"), object("v1", "B", "a/c"), object("v1", "C", "a_b")}, nil},
		"generated":             {[]*resource.Resource{object("batch/v1", "Job", ""), object("batch/v1", "Job", "")}, nil},
		"long":                  {[]*resource.Resource{object("v1", "ConfigMap", long+"/"+long), object("v1", "ConfigMap", long+"/"+long[1:])}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			write(t, dir, emit.DirOptions{}, c.rs...)
			got := names(t, dir)
			if c.want != nil {
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
			if len(got) != len(c.rs) {
				t.Errorf("%d objects are in %q", len(c.rs), got)
			}
			for _, name := range got {
				if len(name) > 220 || name != strings.ToLower(name) || strings.ContainsAny(name, ":/\\ ") {
					t.Errorf("the name %q is not safe everywhere", name)
				}
			}
		})
	}
}

func TestDir_KeepsBytes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, emit.DirOptions{}, parse(t, "f", []byte("---\n# c\n"+config("a")+"--- # kept\n"+config("b")))...)
	want := map[string]string{"configmap_a.yaml": "# c\n" + config("a"), "configmap_b.yaml": "--- # kept\n" + config("b")}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDir_JSON(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, emit.DirOptions{Format: emit.JSON, Kustomization: true}, object("v1", "ConfigMap", "a"))
	want := map[string]string{
		"configmap_a.json":   "{\n    \"apiVersion\": \"v1\",\n    \"kind\": \"ConfigMap\",\n    \"metadata\": {\n        \"name\": \"a\"\n    }\n}\n",
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nsortOptions:\n  order: fifo\nresources:\n- configmap_a.json\n",
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDir_RemovesStaleFiles(t *testing.T) {
	a, b, c := object("v1", "ConfigMap", "a"), object("v1", "ConfigMap", "b"), object("v1", "ConfigMap", "c")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("readme.txt", "mine")
	put("configmap_z.yaml", "mine")
	write(t, dir, emit.DirOptions{Kustomization: true}, a, b, c)

	put("configmap_b.yaml", "edited")
	kept := write(t, dir, emit.DirOptions{}, c)
	if diff := cmp.Diff([]string{"configmap_b.yaml", "configmap_c.yaml", "configmap_z.yaml", "readme.txt"}, names(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{path("configmap_b.yaml")}, kept); diff != "" {
		t.Errorf("kept: -want +got\n%s", diff)
	}

	write(t, dir, emit.DirOptions{})
	if diff := cmp.Diff([]string{"configmap_b.yaml", "configmap_z.yaml", "readme.txt"}, names(t, dir)); diff != "" {
		t.Errorf("nothing to write: -want +got\n%s", diff)
	}
}

// TestDir_ReplacesFilesOfAnEarlierRun: files of an earlier run are replaced; the same text
// is left alone, with its time.
func TestDir_ReplacesFilesOfAnEarlierRun(t *testing.T) {
	dir := t.TempDir()
	a, b := object("v1", "ConfigMap", "a"), object("v1", "ConfigMap", "b")
	write(t, dir, emit.DirOptions{}, a, b)
	before, err := os.Stat(filepath.Join(dir, "configmap_b.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tree.Set(a.Edit(), "data", tree.Map("k", "v"))
	write(t, dir, emit.DirOptions{}, a, b)
	if got := files(t, dir)["configmap_a.yaml"]; !strings.Contains(got, "k: v") {
		t.Errorf("not replaced: %q", got)
	}
	if after, err := os.Stat(filepath.Join(dir, "configmap_b.yaml")); err != nil || !os.SameFile(before, after) {
		t.Error("an equal file was written again")
	}
}

func TestDir_Refuses(t *testing.T) {
	a, b := object("v1", "ConfigMap", "a"), object("v1", "ConfigMap", "b")
	for name, c := range map[string]struct {
		prepare func(dir string) error
		want    string
	}{
		"foreign file":  {func(dir string) error { return os.WriteFile(dir+"/configmap_b.yaml", []byte("mine"), 0o644) }, "configmap_b.yaml: was not written by a render"},
		"symlink":       {func(dir string) error { return os.Symlink("../target", dir+"/configmap_b.yaml") }, "configmap_b.yaml: is not a regular file"},
		"directory":     {func(dir string) error { return os.Mkdir(dir+"/configmap_b.yaml", 0o755) }, "configmap_b.yaml: is not a regular file"},
		"broken record": {func(dir string) error { return os.WriteFile(dir+"/.kubectl-kruise.index", []byte("{"), 0o644) }, ".kubectl-kruise.index: is not the record of a previous render"},
		"evil record": {func(dir string) error {
			return os.WriteFile(dir+"/.kubectl-kruise.index", []byte(`{"files":{"../victim":"x"}}`), 0o644)
		}, ".kubectl-kruise.index: is not the record of a previous render"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "out")
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(top, "target"), []byte("safe"), 0o644))
			must(t, c.prepare(dir))
			_, err := emit.Dir(t.Context(), dir, []*resource.Resource{a, b}, emit.DirOptions{})
			if err == nil || err.Error() != filepath.Join(dir, c.want) && !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "configmap_a.yaml")); err == nil {
				t.Error("a part was written")
			}
			if b, _ := os.ReadFile(filepath.Join(top, "target")); string(b) != "safe" {
				t.Error("written through the symlink")
			}
			left, _ := filepath.Glob(filepath.Join(dir, ".tmp*"))
			if len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestDir_Modes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, emit.DirOptions{}, object("v1", "Secret", "s"), object("v1", "ConfigMap", "c"))
	for name, want := range map[string]os.FileMode{"secret_s.yaml": 0o600, "configmap_c.yaml": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if got := info.Mode().Perm() &^ 0o022; got != want&^0o022 {
			t.Errorf("%s: mode %o, want %o", name, got, want)
		}
	}
}

func TestDir_RefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o644))
	if _, err := emit.Dir(t.Context(), path, nil, emit.DirOptions{}); err == nil {
		t.Error("a file was taken for a directory")
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	for _, text := range []string{"one", "two"} {
		must(t, emit.File(path, []byte(text)))
		if diff := cmp.Diff(map[string]string{"report.json": text}, files(t, dir)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
	if err := emit.File(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("a missing folder goes unnoticed")
	}
	if err := emit.File(os.DevNull, []byte("x")); err != nil {
		t.Errorf("a device: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
