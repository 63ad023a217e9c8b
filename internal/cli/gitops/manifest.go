package gitops

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Manifest is a document in a file that an object comes from, with the kustomizations
// over it.
type Manifest struct {
	// Path is the file.
	Path string

	files *files
	all   []*resource.Resource
	// at is the index of the object.
	at     int
	object *resource.Resource
	// layers are the kustomizations, the outermost first.
	layers []*kustomization
}

// FindManifest finds the manifest of an object in a file, among the YAML files below a
// directory, or among the resources of a kustomization. Two of them are an error.
func FindManifest(path string, w cluster.Ref) (*Manifest, error) {
	f, err := openFiles(path)
	if err != nil {
		return nil, err
	}
	if file := kustomizationAt(f, path); file != "" {
		return f.findLayered(path, file, w)
	}
	list, err := f.list(path)
	if err != nil {
		return nil, err
	}
	refs := map[string]cluster.Ref{}
	for _, file := range list {
		refs[file] = w
	}
	return f.findIn(path, refs, w)
}

func (f *files) findLayered(path, file string, w cluster.Ref) (*Manifest, error) {
	list, resources, err := f.layers(file, w, map[string]bool{})
	if err != nil {
		return nil, err
	}
	for file, ref := range resources {
		ref.Namespace = "" // a kustomization may set it
		resources[file] = ref
	}
	m, err := f.findIn(path, resources, w)
	if err == nil {
		m.layers = list
	}
	return m, err
}

// findIn finds the object in files, under the name that it has in each.
func (f *files) findIn(path string, refs map[string]cluster.Ref, w cluster.Ref) (*Manifest, error) {
	var found []*Manifest
	for _, file := range slices.Sorted(maps.Keys(refs)) {
		more, err := f.open(file, refs[file])
		if err != nil && len(refs) == 1 {
			return nil, err
		}
		found = append(found, more...) // a directory may hold what is no manifest
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &resource.Error{File: path, Err: fmt.Errorf("holds no manifest of %s", w), Hint: "name the file that it is applied from"}
	}
	if found[0].Path == found[1].Path {
		return nil, &resource.Error{File: found[0].Path, Err: fmt.Errorf("%s is in it twice", w), Hint: "leave one of them out"}
	}
	return nil, &resource.Error{File: path, Err: fmt.Errorf("%s is in %s and in %s", w, found[0].Path, found[1].Path), Hint: "name one of the files"}
}

// open finds the object in a file, as often as it is there.
func (f *files) open(file string, w cluster.Ref) (found []*Manifest, err error) {
	text, err := f.read(file)
	if err != nil {
		return nil, err
	}
	all, err := load.Parse(file, text)
	if err != nil {
		return nil, err
	}
	for i, r := range all {
		if r.Is(w.Group, w.Kind) && r.Name() == w.Name && (r.Namespace() == "" || w.Namespace == "" || r.Namespace() == w.Namespace) {
			found = append(found, &Manifest{Path: file, files: f, all: all, at: i, object: r})
		}
	}
	return found, nil
}

// ManifestChange is what a rollout has changed.
type ManifestChange struct {
	// Before and After are the workload as it was and as it became.
	Before, After *tree.Node
	// Partition is the one in force now; nil where none is.
	Partition *tree.Node
}
