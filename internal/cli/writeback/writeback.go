// Package writeback writes what a rollout has brought into the cluster into the
// manifest it came from: the new template and the final partition. All else in the
// file stays, comments included.
package writeback

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Manifest is a document in a file that an object comes from, with the kustomizations
// over it.
type Manifest struct {
	// Path is the file.
	Path string

	all    []*resource.Resource
	object *resource.Resource
	// layers are the kustomizations, the outermost first.
	layers []*kustomization
}

// Find finds the manifest of an object in a file, among the YAML files below a
// directory, or among the resources of a kustomization. Two of them are an error.
func Find(path string, w cluster.Ref) (*Manifest, error) {
	if file := kustomizationAt(path); file != "" {
		return findLayered(path, file, w)
	}
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	refs := map[string]cluster.Ref{}
	for _, file := range files {
		refs[file] = w
	}
	return findIn(path, refs, w)
}

func findLayered(path, file string, w cluster.Ref) (*Manifest, error) {
	list, resources, err := layers(file, w, map[string]bool{})
	if err != nil {
		return nil, err
	}
	for file, ref := range resources {
		ref.Namespace = "" // a kustomization may set it
		resources[file] = ref
	}
	m, err := findIn(path, resources, w)
	if err == nil {
		m.layers = list
	}
	return m, err
}

// findIn finds the object in files, under the name that it has in each.
func findIn(path string, refs map[string]cluster.Ref, w cluster.Ref) (*Manifest, error) {
	var found []*Manifest
	for _, file := range slices.Sorted(maps.Keys(refs)) {
		m, err := open(file, refs[file])
		switch {
		case err != nil && len(refs) == 1:
			return nil, err
		case err == nil && m != nil: // a directory may hold what is no manifest
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &resource.Error{File: path, Err: fmt.Errorf("holds no manifest of %s", w), Hint: "name the file that it is applied from"}
	}
	return nil, &resource.Error{File: path, Err: fmt.Errorf("%s is in %s and in %s", w, found[0].Path, found[1].Path), Hint: "name one of the files"}
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var out []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(file); {
		case err != nil:
			return err
		case d.Type().IsRegular() && (ext == ".yaml" || ext == ".yml"):
			out = append(out, file)
		}
		return nil
	})
	return out, err
}

// open finds the object in a file; nil where it is not there.
func open(file string, w cluster.Ref) (*Manifest, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := load.Parse(file, text)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Path: file, all: all}
	for _, r := range all {
		if r.Is(w.Group, w.Kind) && r.Name() == w.Name && (r.Namespace() == "" || w.Namespace == "" || r.Namespace() == w.Namespace) {
			m.object = r
			return m, nil
		}
	}
	return nil, nil //nolint:nilnil // that it is not there is no error
}

// Change is what a rollout has changed.
type Change struct {
	// Before and After are the workload as it was and as it became.
	Before, After *tree.Node
	// Partition is the one in force now; nil where none is.
	Partition *tree.Node
}

// replace writes a file at once, with the mode that it had.
func replace(path string, body []byte) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := emit.File(path, body); err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm())
}

func (m *Manifest) ref() cluster.Ref {
	return cluster.Ref{Group: m.object.Group(), Kind: m.object.Kind(), Namespace: m.object.Namespace(), Name: m.object.Name()}
}
