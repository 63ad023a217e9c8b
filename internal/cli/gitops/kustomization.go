package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomization is one kustomization of those that make an object.
type kustomization struct {
	*document
	// patches are the files of patches of the object.
	patches []*document
	// inline are patches of it that stand in the file itself.
	inline []*inline
	// patched and replaced are the places that JSON patches and replacements set in it.
	patched, replaced [][]string
	// object is what the object is called where this kustomization gets it from.
	object cluster.Ref
}

// inline is a patch in a literal.
type inline struct {
	holder *tree.Node
	patch  *tree.Node
}

// document is a file with one YAML document, as it is and as it becomes.
type document struct {
	file     string
	was, now *tree.Node
	// root is the value in now.
	root *tree.Node
}

func (d *document) encode(text []byte) (was, now []byte, err error) {
	opt := &yaml.EncoderOptions{SeqIndent: yaml.SequenceIndentStyle(yaml.DeriveSeqIndentStyle(string(text)))}
	if was, err = yaml.MarshalWithOptions(d.was, opt); err != nil {
		return nil, nil, err
	}
	now, err = yaml.MarshalWithOptions(d.now, opt)
	return was, now, err
}

func (d *document) isMeantBy(text []byte) bool {
	n, err := load.Single(d.file, text)
	return err == nil && tree.Equal(n, d.now)
}

func (f *files) readDocument(file string) (*document, error) {
	text, err := f.read(file)
	if err != nil {
		return nil, err
	}
	n, err := load.Single(file, text)
	if err != nil {
		return nil, err
	}
	return &document{file, tree.Clone(n), n, tree.Root(n)}, nil
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
	k := &kustomization{document: d, object: unnamed(w, d.root)}
	return k, cmp.Or(k.findPatches(f), k.findReplacements(f))
}

// unnamed is the object as it is called before a kustomization renames it.
func unnamed(w cluster.Ref, k *tree.Node) cluster.Ref {
	w.Name = strings.TrimPrefix(w.Name, tree.StrAt(k, "namePrefix"))
	w.Name = strings.TrimSuffix(w.Name, tree.StrAt(k, "nameSuffix"))
	return w
}

// findPatches finds the patches of the object.
func (k *kustomization) findPatches(f *files) error {
	for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, item := range tree.Items(tree.Get(k.root, field)) {
			if err := k.findPatch(f, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *kustomization) findPatch(f *files, item *tree.Node) error {
	path, holder := tree.StrAt(item, "path"), tree.Get(item, "patch")
	if tree.IsScalar(item) {
		path, holder = tree.Str(item), item
		if !strings.Contains(path, "\n") {
			holder = nil
		}
	}
	target := tree.Get(item, "target")
	switch {
	case holder != nil:
		n, err := load.Single(k.file, []byte(tree.Str(holder)))
		if err != nil {
			return err
		}
		if n = tree.Root(n); k.isOfObject(n, target) {
			k.inline = append(k.inline, &inline{holder, n})
		}
	case path != "":
		d, err := f.readDocument(filepath.Join(filepath.Dir(k.file), path))
		if err != nil {
			return cmp.Or(f.refusalOf(k.file), err)
		}
		if k.isOfObject(d.root, target) {
			k.patches = append(k.patches, d)
		}
	}
	return nil
}

// isOfObject reports whether a strategic merge patch is one of the object. The places of a
// JSON patch of it are noted.
func (k *kustomization) isOfObject(patch, target *tree.Node) bool {
	selected := target != nil && k.isSelected(target)
	switch {
	case tree.IsSeq(patch):
		for _, operation := range patch.Content {
			if selected {
				k.patched = append(k.patched, tree.PointerSteps(tree.StrAt(operation, "path")))
			}
		}
		return false
	case target != nil:
		return selected
	}
	return tree.StrAt(patch, "kind") == k.object.Kind && tree.StrAt(patch, "metadata", "name") == k.object.Name
}

// isSelected reports whether a target selects the object: each of its fields is a regular
// expression for all of a value, or missing.
func (k *kustomization) isSelected(target *tree.Node) bool {
	for field, value := range map[string]string{"kind": k.object.Kind, "name": k.object.Name} {
		pattern := tree.StrAt(target, field)
		if re, err := regexp.Compile("^(?:" + pattern + ")$"); pattern != "" && (err != nil || !re.MatchString(value)) {
			return false
		}
	}
	return true
}

// bracketed is an item of a list in the path of a replacement.
var bracketed = regexp.MustCompile(`\[[^\]]*\]|\*`)

// findReplacements notes the places of the object that replacements set.
func (k *kustomization) findReplacements(f *files) error {
	for _, item := range tree.Items(tree.Get(k.root, "replacements")) {
		if path := tree.StrAt(item, "path"); path != "" {
			d, err := f.readDocument(filepath.Join(filepath.Dir(k.file), path))
			if err != nil {
				return cmp.Or(f.refusalOf(k.file), err)
			}
			item = d.root
		}
		if !tree.IsSeq(item) {
			item = tree.Seq(item)
		}
		for _, replacement := range item.Content {
			for _, target := range tree.Items(tree.Get(replacement, "targets")) {
				for _, path := range tree.Items(tree.Get(target, "fieldPaths")) {
					if k.isSelected(tree.Get(target, "select")) {
						k.replaced = append(k.replaced, strings.Split(bracketed.ReplaceAllString(tree.Str(path), "-"), "."))
					}
				}
			}
		}
	}
	return nil
}

// refuseOverwritten refuses a change of one of these places, which what says so sets after
// the change was made elsewhere.
func (k *kustomization) refuseOverwritten(places [][]string, by string, before, after *tree.Node, path []string) error {
	if len(places) == 0 {
		return nil
	}
	for _, d := range tree.Differences(path, tree.Value(tree.Get(before, path...)), tree.Value(tree.Get(after, path...))) {
		for _, place := range places {
			if samePlace(place, d.Path) {
				return &resource.Error{File: k.file, Err: fmt.Errorf("a %s sets %s", by, strings.Join(place, ".")), Hint: "write the change into it by hand"}
			}
		}
	}
	return nil
}

// samePlace reports whether one place is the other, or inside it. Any two items of a list
// may be the same one: manifests order them otherwise than a server.
func samePlace(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && (!isIndex(a[i]) || !isIndex(b[i])) {
			return false
		}
	}
	return true
}

func isIndex(step string) bool { return step == "-" || strings.Trim(step, "0123456789") == "" }

// applyChange writes into a kustomization what it sets of a change, and removes that from after.
// What kustomize sets last comes first: replacements, then images.
func (k *kustomization) applyChange(before, after *tree.Node, path []string) error {
	if err := k.refuseOverwritten(k.replaced, "replacement", before, after, path); err != nil {
		return err
	}
	for _, list := range []string{"containers", "initContainers"} {
		at := slices.Concat(path, []string{"spec", list})
		if path[len(path)-1] == "spec" {
			at = slices.Concat(path, []string{list})
		}
		k.takeImages(tree.Get(before, at...), tree.Get(after, at...))
	}
	if err := k.refuseOverwritten(k.patched, "JSON patch", before, after, path); err != nil {
		return err
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
