package load

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// holdsSecrets reports whether something that was read may be secret. What was not kept may
// be, and so may kustomizations that cannot be read: they come before the objects.
func (d *disk) holdsSecrets() bool {
	objects := slices.ContainsFunc(d.texts, func(t textFile) bool { return !slices.Contains(kustomizationFiles, filepath.Base(t.name)) })
	return d.bytes > maxTexts || len(d.texts) > 0 && !objects || slices.ContainsFunc(d.texts, func(t textFile) bool { return redact.Text(t.body) })
}

// quotable gathers what an error of kustomize may repeat.
type quotable struct {
	job   job
	disk  *disk
	said  string
	known redact.Names
	// at is the first place that names a file which the error names, too.
	at resource.Error
	// left bounds the values that are looked at, since aliases repeat them.
	left int
}

// newQuotable are those of the files that were read and of the objects in them, of folders, and
// what kustomizations and configurations of plugins select. A value that is also in a Secret is
// left out.
func (j job) newQuotable(d *disk, said string) *quotable {
	n := &quotable{job: j, disk: d, said: said, known: redact.Names{}, left: maxSearched}
	var docs []*tree.Node
	for _, t := range d.texts {
		docs = append(docs, n.addFile(t)...)
	}
	for _, path := range slices.Concat([]string{j.Name, j.Dir, j.Root}, kustomizationFiles) {
		n.known.Add(path)
	}
	addTypeNames(reflect.TypeFor[types.Kustomization](), n.known)
	for _, doc := range docs {
		n.removeSecrets(doc, false)
	}
	return n
}

// addTypeNames adds the names of a Go type and of its fields, which decoders repeat.
func addTypeNames(t reflect.Type, known redact.Names) {
	if known[t.String()] && t.Kind() != reflect.String {
		return
	}
	known.Add(t.String())
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer, reflect.Map:
		addTypeNames(t.Elem(), known)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known.Add(name)
			addTypeNames(f.Type, known)
		}
	}
}

func (n *quotable) addFile(t textFile) (docs []*tree.Node) {
	n.known.Add(t.name)
	n.known.Add(filepath.Dir(t.name))
	config := slices.Contains(kustomizationFiles, filepath.Base(t.name))
	docs = documentsIn(t.body)
	for _, root := range docs {
		n.addIdentity(root)
		if config {
			tree.Each(root, func(key, _ *tree.Node) { n.known.Add(key.Value) })
		}
		if config || strings.HasPrefix(tree.StrAt(root, "apiVersion"), "builtin") {
			n.addSelected(root, t.name, "", "")
		}
	}
	return docs
}

func (n *quotable) addIdentity(object *tree.Node) {
	for _, path := range [][]string{{"kind"}, {"apiVersion"}, {"metadata", "name"}, {"metadata", "namespace"}} {
		n.known.Add(tree.StrAt(object, path...))
	}
}

// addPatch reads which object an inline patch is for.
func (n *quotable) addPatch(text string) {
	if n.left -= len(text); n.left <= 0 {
		return
	}
	for _, root := range documentsIn([]byte(text)) {
		n.addIdentity(root)
	}
}

// selecting are fields of kustomizations whose values name objects, fields and kinds, referring
// those that name manifests, and taking those of generators, whose values are names only if there
// is such a file: they are mixed with literals.
var (
	selecting = wordSet("name namespace kind group version apiVersion fieldPath fieldPaths namePrefix nameSuffix")
	referring = wordSet("resources bases components configurations crds generators transformers validators path patchesStrategicMerge")
	taking    = wordSet("files envs env")
)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// addSelected reads what a kustomization selects; key is the field of in.
func (n *quotable) addSelected(in *tree.Node, file, field, key string) {
	if n.left--; n.left < 0 || in == nil || contents[key] {
		return
	}
	switch in.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(in.Content); i += 2 {
			name := in.Content[i].Value
			n.addSelected(in.Content[i+1], file, strings.TrimPrefix(field+"."+name, "."), name)
		}
	case yaml.SequenceNode:
		for i, item := range in.Content {
			n.addSelected(item, file, fmt.Sprintf("%s[%d]", field, i), key)
		}
	case yaml.ScalarNode:
		n.addScalar(in, file, field, key)
	}
}

func (n *quotable) addScalar(in *tree.Node, file, field, key string) {
	path := in.Value
	if key == "patch" || key == "patchesStrategicMerge" && strings.ContainsAny(path, "\n{") {
		n.addPatch(path)
		return
	}
	if taking[key] {
		if _, behind, ok := strings.Cut(path, "="); ok {
			path = behind
		}
	}
	exists := taking[key] && n.disk.Exists(filepath.Join(filepath.Dir(file), path))
	if selecting[key] || referring[key] || exists {
		n.known.Add(path)
	}
	if (referring[key] || taking[key]) && n.at.Line == 0 && !exists && len(path) > 2 && strings.Contains(n.said, path) {
		n.at = resource.Error{File: n.job.displayPath(file), Line: in.Line, Field: field}
	}
}

// removeSecrets takes out what is a value of a Secret, too, or of something whose name looks secret.
func (n *quotable) removeSecrets(in *tree.Node, secret bool) {
	if n.left--; n.left < 0 || in == nil {
		return
	}
	switch in.Kind {
	case yaml.MappingNode:
		named := redact.Name(tree.StrAt(in, "name"))
		for i := 0; i+1 < len(in.Content); i += 2 {
			key := in.Content[i].Value
			n.removeSecrets(in.Content[i+1], secret || contents[key] || redact.Name(key) && tree.IsScalar(in.Content[i+1]) || named && key == "value")
		}
	case yaml.SequenceNode:
		for _, item := range in.Content {
			n.removeSecrets(item, secret)
		}
	case yaml.ScalarNode:
		if secret {
			delete(n.known, in.Value)
			if _, behind, ok := strings.Cut(in.Value, "="); ok { // of a literal
				delete(n.known, behind)
			}
		}
	}
}
