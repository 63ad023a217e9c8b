package gitops

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomization is one kustomization of those that make an object.
type kustomization struct {
	file string
	// was and root are the file as it is and as it becomes.
	was, root *tree.Node
	// patches are the files of patches of the object.
	patches []*document
	// inline are patches of it that stand in the file itself.
	inline []*inline
	// object is what the object is called where this kustomization gets it from.
	object cluster.Ref
}

// inline is a patch in a literal.
type inline struct {
	holder *tree.Node
	patch  *tree.Node
}

// document is a file with one YAML document.
type document struct {
	file      string
	was, root *tree.Node
}

func (f *files) readDocument(file string) (*document, error) {
	text, err := f.read(file)
	if err != nil {
		return nil, err
	}
	n, err := yaml.Parse(string(text))
	if err != nil {
		return nil, err
	}
	return &document{file, tree.Clone(n.YNode()), n.YNode()}, nil
}

// kustomizationAt is the file of a kustomization: the path itself, or in the directory;
// "" for none.
func kustomizationAt(f *files, path string) string {
	if slices.Contains(kustomizationNames, filepath.Base(path)) {
		return path
	}
	for _, name := range kustomizationNames {
		if f.regular(filepath.Join(path, name)) {
			return filepath.Join(path, name)
		}
	}
	return ""
}

// layers follows a kustomization inwards: the kustomizations that may change the
// object, the outermost first, and the files that may hold it. What is fetched from
// elsewhere is passed over.
func (f *files) layers(file string, w cluster.Ref, seen map[string]bool) (list []*kustomization, resources map[string]cluster.Ref, err error) {
	resources = map[string]cluster.Ref{}
	if seen[file] {
		return nil, resources, nil
	}
	seen[file] = true
	k, err := f.readKustomization(file, w)
	if err != nil {
		return nil, nil, err
	}
	list = append(list, k)
	for _, field := range []string{"resources", "bases", "components"} {
		for _, item := range tree.Items(tree.Get(k.root, field)) {
			path := filepath.Join(filepath.Dir(file), tree.Str(item))
			inner := kustomizationAt(f, path)
			if inner == "" {
				if f.regular(path) {
					resources[path] = k.object
				} else if err := f.refusalOf(file); err != nil {
					return nil, nil, err
				}
				continue
			}
			more, files, err := f.layers(inner, k.object, seen)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, more...)
			maps.Copy(resources, files)
		}
	}
	return list, resources, nil
}

// readKustomization reads a file, and the parts that are about an object.
func (f *files) readKustomization(file string, w cluster.Ref) (*kustomization, error) {
	d, err := f.readDocument(file)
	if err != nil {
		return nil, err
	}
	k := &kustomization{file: file, was: d.was, root: d.root, object: unnamed(w, d.root)}
	return k, k.findPatches(f)
}

// unnamed is the object as it is called before a kustomization renames it.
func unnamed(w cluster.Ref, k *tree.Node) cluster.Ref {
	w.Name = strings.TrimPrefix(w.Name, tree.StrAt(k, "namePrefix"))
	w.Name = strings.TrimSuffix(w.Name, tree.StrAt(k, "nameSuffix"))
	return w
}

// findPatches finds the strategic merge patches of the object.
func (k *kustomization) findPatches(f *files) error {
	for _, item := range slices.Concat(tree.Items(tree.Get(k.root, "patches")), tree.Items(tree.Get(k.root, "patchesStrategicMerge"))) {
		path, holder := tree.StrAt(item, "path"), tree.Get(item, "patch")
		if tree.IsScalar(item) {
			path, holder = tree.Str(item), item
			if !strings.Contains(path, "\n") {
				holder = nil
			}
		}
		switch {
		case holder != nil:
			if n, err := yaml.Parse(tree.Str(holder)); err == nil && k.patched(n.YNode(), tree.Get(item, "target")) {
				k.inline = append(k.inline, &inline{holder, n.YNode()})
			}
		case path != "":
			d, err := f.readDocument(filepath.Join(filepath.Dir(k.file), path))
			if err != nil {
				return cmp.Or(f.refusalOf(k.file), err)
			}
			if k.patched(d.root, tree.Get(item, "target")) {
				k.patches = append(k.patches, d)
			}
		}
	}
	return nil
}

// patched reports whether a strategic merge patch is one of the object.
func (k *kustomization) patched(patch, target *tree.Node) bool {
	if !tree.IsMap(patch) {
		return false // a list of operations
	}
	kind, name := tree.StrAt(patch, "kind"), tree.StrAt(patch, "metadata", "name")
	if target != nil {
		kind, name = tree.StrAt(target, "kind"), tree.StrAt(target, "name")
	}
	return (kind == k.object.Kind || kind == "" && target != nil) && (name == k.object.Name || name == "" && target != nil)
}

// applyChange writes into a kustomization what it sets of a change, and removes that from after.
// Images come first: they are set last.
func (k *kustomization) applyChange(before, after *tree.Node, path []string) error {
	for _, list := range []string{"containers", "initContainers"} {
		at := slices.Concat(path, []string{"spec", list})
		if path[len(path)-1] == "spec" {
			at = slices.Concat(path, []string{list})
		}
		k.takeImages(tree.Get(before, at...), tree.Get(after, at...))
	}
	for _, d := range k.patches {
		settleFields(tree.Get(before, path...), tree.Get(after, path...), tree.Get(d.root, path...))
	}
	for _, i := range k.inline {
		was := tree.Clone(i.patch)
		settleFields(tree.Get(before, path...), tree.Get(after, path...), tree.Get(i.patch, path...))
		if err := i.write(was); err != nil {
			return err
		}
	}
	return nil
}

// write puts a changed patch back into its literal.
func (i *inline) write(was *tree.Node) error {
	list, ok := changedScalars(was, i.patch)
	if body, fine := splice([]byte(i.holder.Value), list); ok && fine {
		i.holder.Value = string(body)
		return nil
	}
	text, err := yaml.NewRNode(i.patch).String()
	i.holder.Value = text
	return err
}

// takeImages writes new images of containers into the entries of images: that set
// those before.
func (k *kustomization) takeImages(before, after *tree.Node) {
	for _, now := range tree.Items(after) {
		was, _ := tree.Find(before, "name", tree.StrAt(now, "name"))
		old, image := tree.StrAt(was, "image"), tree.StrAt(now, "image")
		if was == nil || old == image {
			continue
		}
		for _, entry := range tree.Items(tree.Get(k.root, "images")) {
			if entrySetsImage(entry, old) || entrySetsImage(entry, image) { // another container's, of the same image, may have been first
				setEntry(entry, image)
				tree.Set(now, "image", tree.String(old))
				break
			}
		}
	}
}

// entrySetsImage reports whether an image is what an entry makes.
func entrySetsImage(entry *tree.Node, image string) bool {
	repository, tag, digest := splitImage(image)
	name := tree.StrAt(entry, "newName")
	if name == "" {
		name = tree.StrAt(entry, "name")
	}
	newTag, newDigest := tree.StrAt(entry, "newTag"), tree.StrAt(entry, "digest")
	return name == repository && (newTag == "" || newTag == tag) && (newDigest == "" || newDigest == digest)
}

// setEntry has an entry make an image.
func setEntry(entry *tree.Node, image string) {
	repository, tag, digest := splitImage(image)
	if have := tree.StrAt(entry, "newName"); have != repository && (have != "" || repository != tree.StrAt(entry, "name")) {
		tree.Set(entry, "newName", remarked(tree.Get(entry, "newName"), tree.String(repository)))
	}
	for key, v := range map[string]string{"newTag": tag, "digest": digest} {
		if v == "" {
			tree.Delete(entry, key)
		}
	}
	for _, field := range []struct{ key, v string }{{"newTag", tag}, {"digest", digest}} {
		if field.v != "" && tree.StrAt(entry, field.key) != field.v {
			tree.Set(entry, field.key, remarked(tree.Get(entry, field.key), tree.String(field.v)))
		}
	}
}

// splitImage takes an image apart; a port is no tag.
func splitImage(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository, tag = repository[:i], repository[i+1:]
	}
	return repository, tag, digest
}
