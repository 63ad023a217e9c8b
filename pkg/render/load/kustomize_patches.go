package load

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// patchDocument is a document of a patch: a part of an object, or a list of JSON patch operations.
type patchDocument struct {
	file string
	// lines is what is added to the lines of the document for those of the file.
	lines int
	root  *tree.Node
	// kind and name are of the objects that it may be for; an empty name is any.
	kind, name string
	// target selects objects where it is not nil.
	target *tree.Node
}

// findPatches are the patches of all kustomizations and of the configurations of
// kustomize's own plugins.
func (d *disk) findPatches(layers []layerFile) (out []patchDocument) {
	for _, k := range layers {
		for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
			for _, item := range tree.Items(tree.Get(k.root, field)) {
				out = append(out, d.patchesOf(k.file, item)...)
			}
		}
	}
	for _, t := range d.texts {
		if !bytes.Contains(t.body, []byte("PatchTransformer")) && !bytes.Contains(t.body, []byte("PatchStrategicMergeTransformer")) {
			continue
		}
		for _, doc := range documentsIn(t.body) {
			if tree.StrAt(doc, "apiVersion") != "builtin" {
				continue
			}
			out = append(out, d.patchesOf(t.name, doc)...)
			for _, item := range tree.Items(tree.Get(doc, "paths")) {
				out = append(out, d.patchesOf(t.name, item)...)
			}
			out = append(out, inlinePatches(t.name, tree.Get(doc, "patches"), nil)...)
		}
	}
	return out
}

// patchesOf are the documents of one entry: a file, a text in place, or a mapping that has one of them and a
// target.
func (d *disk) patchesOf(file string, entry *tree.Node) []patchDocument {
	if tree.IsScalar(entry) {
		if strings.ContainsAny(entry.Value, "\n{") {
			return inlinePatches(file, entry, nil)
		}
		return d.filePatches(file, entry.Value, nil)
	}
	target := tree.Get(entry, "target")
	if path := tree.StrAt(entry, "path"); path != "" {
		return d.filePatches(file, path, target)
	}
	return inlinePatches(file, tree.Get(entry, "patch"), target)
}

// filePatches are those of a file that a kustomization names.
func (d *disk) filePatches(by, path string, target *tree.Node) (out []patchDocument) {
	at, err := d.root.Locate(filepath.Join(filepath.Dir(by), path))
	if err != nil {
		return nil
	}
	name := filepath.Join(d.root.Dir(), at)
	i := slices.IndexFunc(d.texts, func(t textFile) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	for _, doc := range documentsIn(d.texts[i].body) {
		out = append(out, newPatch(name, 0, doc, target))
	}
	return out
}

// inlinePatches are those of a text in a kustomization. The text of a block begins on the line below
// its mark.
func inlinePatches(file string, text, target *tree.Node) (out []patchDocument) {
	if text == nil {
		return nil
	}
	lines := text.Line - 1
	if text.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		lines = text.Line
	}
	for _, doc := range documentsIn([]byte(text.Value)) {
		out = append(out, newPatch(file, lines, doc, target))
	}
	return out
}

func newPatch(file string, lines int, doc, target *tree.Node) patchDocument {
	p := patchDocument{file: file, lines: lines, root: doc, kind: tree.StrAt(doc, "kind"), name: tree.StrAt(doc, "metadata", "name"), target: target}
	if target != nil {
		p.kind, p.name = tree.StrAt(target, "kind"), ""
	}
	return p
}

// documentsIn are the documents of a text.
func documentsIn(text []byte) (out []*tree.Node) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc tree.Node
		if dec.Decode(&doc) != nil {
			return out
		}
		if root := tree.Root(&doc); root != nil {
			out = append(out, root)
		}
	}
}
