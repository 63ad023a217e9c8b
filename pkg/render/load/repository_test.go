package load

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	binary "github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// handedOver is what the reader hands over of a kustomization, object by object.
func handedOver(t *testing.T, dir string) ([]byte, error) {
	t.Helper()
	list, err := Load(t.Context(), Options{Kustomize: dir, Undecided: &[]*resource.Error{}})
	if errors.Is(err, ErrEmpty) {
		return nil, nil
	}
	var text []byte
	for _, r := range list {
		text = append(text, r.Raw()...) // each with the line that separates it
	}
	return text, err
}

// TestLoad_HandsOverWhatTheCommandBuilds: every kustomization of the repository has the bytes that the real
// kustomize prints, or fails with both.
func TestLoad_HandsOverWhatTheCommandBuilds(t *testing.T) {
	root, built := checkout.Path(), 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "bin", "out", "dist"}, e.Name()) {
			return filepath.SkipDir
		}
		if e.IsDir() || !slices.Contains(kustomizationFiles, e.Name()) {
			return nil
		}
		if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("kind: Component")) {
			return err
		}
		dir := filepath.Dir(path)
		want, stderr, failed := binary.Run(t, dir, nil, "build", ".")
		got, err := handedOver(t, dir)
		switch {
		case failed != nil && err == nil:
			t.Errorf("%s was read, where kustomize says: %s", dir, stderr)
		case failed == nil && err != nil:
			t.Errorf("%s: %v", dir, err)
		case failed == nil:
			built++
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("%s: -kustomize +read:\n%s", dir, diff)
			}
		}
		return nil
	})
	if err != nil || built < 5 {
		t.Errorf("%d were built, %v", built, err)
	}
}

// TestLoad_HandsOverWhatKustomizeBuildsOfRandomTrees: also where Kruise's schema would build another result.
func TestLoad_HandsOverWhatKustomizeBuildsOfRandomTrees(t *testing.T) {
	built, undecided := 0, 0
	for seed := range uint64(25) {
		r := &random{rand.New(rand.NewPCG(seed, 2)), map[string]string{}, map[string]bool{}}
		dir := filepath.Join(Files(t, r.tree()), "top")
		var want []byte
		failed := kustomize.WithSchema(nil, func() (err error) {
			want, err = runKustomize(filesys.MakeFsOnDisk(), dir)
			return err
		})
		out, err := kustomizationDir{Dir: dir, Root: filepath.Dir(dir)}.Build(t.Context())
		switch {
		case failed != nil && err == nil:
			t.Errorf("seed %d: built, where kustomize says: %v", seed, failed)
		case failed == nil && err != nil:
			t.Errorf("seed %d: %v", seed, err)
		case failed == nil:
			built++
			if diff := cmp.Diff(string(want), string(out.Text)); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
			if len(out.Undecided) > 0 {
				undecided++
			}
		}
	}
	if built < 8 || undecided < 3 {
		t.Errorf("%d were built, %d of them undecided: the trees are too dull", built, undecided)
	}
}
