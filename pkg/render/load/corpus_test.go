package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	binary "github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
)

// kustomizationCase is one of testdata/corpus. The first line of its file says who builds
// it, and in which folder.
type kustomizationCase struct {
	name, dir string
	linear    bool
}

func kustomizations(t *testing.T) (all []kustomizationCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree := map[string]string{}
		for _, f := range archive.Files {
			tree[f.Name] = string(f.Data)
		}
		how, dir, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), " ")
		all = append(all, kustomizationCase{
			strings.TrimSuffix(filepath.Base(file), ".txtar"), filepath.Join(Files(t, tree), dir), how == "linear",
		})
	}
	return all
}

// TestKustomize_BuildsTheCorpusAsTheCommand: what is built without kustomize is what kustomize
// builds in process, with the configuration for Kruise's kinds, and as the installed command,
// without it.
func TestKustomize_BuildsTheCorpusAsTheCommand(t *testing.T) {
	all, built := kustomizations(t), 0
	withKruise(t, func(config []byte) {
		for _, c := range all {
			t.Run(c.name, func(t *testing.T) {
				if alike(t, c.dir, config, inProcess(c.dir, config), c.linear) {
					built++
				}
			})
		}
	})
	t.Logf("%d of %d kustomizations are built without kustomize", built, len(all))
	if err := kustomize.WithSchema(nil, func() error {
		for _, c := range all {
			t.Run(c.name+" by the program", func(t *testing.T) {
				alike(t, c.dir, nil, func() ([]byte, error) {
					out, _, err := binary.Run(t, c.dir, nil, "build", ".")
					return []byte(out), err
				}, c.linear && c.name != "kruise") // which has replicas for a CloneSet
			})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestKustomize_BuildsOwnKustomizationsAsTheCommand: those that the project shows to others.
func TestKustomize_BuildsOwnKustomizationsAsTheCommand(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	withKruise(t, func(config []byte) {
		for _, dir := range []string{
			"examples/shop/base", "examples/shop/overlays/dev", "examples/shop/overlays/staging", "examples/shop/overlays/prod",
			"plugins/argocd/ignore-differences", "plugins/argocd/install",
		} {
			alike(t, filepath.Join(root, dir), config, inProcess(filepath.Join(root, dir), config), true)
		}
	})
}

// withKruise calls f while kustomize knows Kruise's kinds.
func withKruise(tb testing.TB, f func(config []byte)) {
	tb.Helper()
	additions, err := kustomize.Additions()
	if err != nil {
		tb.Fatal(err)
	}
	config, err := kustomize.Configuration()
	if err != nil {
		tb.Fatal(err)
	}
	if err := kustomize.WithSchema(additions, func() error { f(config); return nil }); err != nil {
		tb.Fatal(err)
	}
}

func inProcess(dir string, config []byte) func() ([]byte, error) {
	return func() ([]byte, error) { return runKustomize(configFiles{filesys.MakeFsOnDisk(), config}, dir) }
}

// alike reports whether dir is built without kustomize, which it must be where fit, and
// holds the result against what is wanted.
func alike(t *testing.T, dir string, config []byte, want func() ([]byte, error), fit bool) bool {
	t.Helper()
	got, unfit := linear.Build(filesys.MakeFsOnDisk(), dir, config)
	if fit != (unfit == nil) {
		t.Errorf("%s: built without kustomize: %v; %v", dir, !fit, unfit)
	}
	if unfit != nil {
		return false
	}
	text, err := want()
	if err != nil {
		t.Errorf("%s: was built, where kustomize says: %v", dir, err)
	} else if !bytes.Equal(text, got.Text) {
		t.Errorf("%s: %s", dir, cmp.Diff(string(text), string(got.Text)))
	}
	return true
}

// TestKustomize_PassesWarningsOn: deprecations have the words of kustomize.
func TestKustomize_PassesWarningsOn(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml":   "bases: [b]\ncommonLabels: {a: b}\n",
		"b/kustomization.yaml": "resources: [o.yaml]\npatchesStrategicMerge: [o.yaml]\n", "b/o.yaml": cloneSet,
	})
	built, err := linear.Build(filesys.MakeFsOnDisk(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, err := binary.Run(t, dir, nil, "build", ".")
	if err != nil {
		t.Fatal(stderr)
	}
	if diff := cmp.Diff(stderr, strings.Join(built.Warnings, "\n")+"\n"); diff != "" {
		t.Error(diff)
	}
}

// TestKustomize_ReadsNoLinkOutOfTheRoot: links are followed before a file is held
// against the folder of its kustomization.
func TestKustomize_ReadsNoLinkOutOfTheRoot(t *testing.T) {
	dir := Files(t, map[string]string{"k/kustomization.yaml": "resources: [o.yaml]\n", "o.yaml": cloneSet})
	if err := os.Symlink(filepath.Join("..", "o.yaml"), filepath.Join(dir, "k", "o.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := linear.Build(filesys.MakeFsOnDisk(), filepath.Join(dir, "k"), nil); err == nil {
		t.Error("was built")
	}
	if _, err := Kustomize(filepath.Join(dir, "k")); err == nil {
		t.Error("was built by kustomize")
	}
}
