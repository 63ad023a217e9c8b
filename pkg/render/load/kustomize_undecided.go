package load

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// This file finds where a kustomization would become something else if kustomize knew Kruise's
// kinds, by building it both ways. It reads no files: what was built is compared, and the places
// are looked up in what the build has read.

// errUndecided is the fault of a place where Kruise's schema or field lists would change what is
// built, and nothing says whether they take part.
var errUndecided = errors.New("kustomize does not know the kind")

// kruiseMark is in the API group of each Kruise kind.
var kruiseMark = []byte("kruise.io")

// ofKruise reports whether a text may hold an object of Kruise. Without one, Kruise's schema and
// field lists change nothing.
func ofKruise(text []byte) bool { return bytes.Contains(text, kruiseMark) }

// readKruise reports whether a file that was read may hold an object of Kruise.
func (d *disk) readKruise() bool {
	return d.bytes > maxTexts || slices.ContainsFunc(d.texts, func(t textFile) bool { return ofKruise(t.body) })
}

// decidesFields reports whether a kustomization says which fields of Kruise's kinds names, labels
// and images reach: it lists configurations, or a schema, of them. Where a schema that was read too late
// leaves a patch to kustomize's own, that is still found, since only the field lists are left out.
func (d *disk) decidesFields() bool {
	named := map[string]bool{}
	for _, k := range d.kustomizations() {
		dir := filepath.Dir(k.file)
		if path := tree.StrAt(k.root, "openapi", "path"); path != "" {
			named[filepath.Join(dir, path)] = true
		}
		for _, path := range tree.Items(tree.Get(k.root, "configurations")) {
			named[filepath.Join(dir, path.Value)] = true
		}
	}
	return slices.ContainsFunc(d.texts, func(t textFile) bool { return named[t.name] && ofKruise(t.body) })
}

// layerFile is a file of a kustomization that was read.
type layerFile struct {
	file string
	root *tree.Node
}

func (d *disk) kustomizations() (out []layerFile) {
	for _, t := range d.texts {
		var doc tree.Node
		seen := slices.ContainsFunc(out, func(k layerFile) bool { return k.file == t.name })
		if !seen && slices.Contains(kustomizationFiles, filepath.Base(t.name)) && yaml.Unmarshal(t.body, &doc) == nil {
			out = append(out, layerFile{t.name, tree.Root(&doc)})
		}
	}
	return out
}

// undecided are the places where plain, which kustomize builds, differs from known, which it would
// build with Kruise's schema.
func (j job) undecided(d *disk, plain, known []byte) (out []*resource.Error, err error) {
	if bytes.Equal(plain, known) {
		return nil, nil
	}
	additions, err := kustomize.Additions()
	if err != nil {
		return nil, err
	}
	layers := d.kustomizations()
	f := &undecidedFinder{job: j, layers: layers, patches: d.findPatches(layers)}
	err = kustomize.WithSchema(additions, func() error {
		for _, pair := range paired(documentsOf(plain), documentsOf(known)) {
			f.compare(pair.plain, pair.known)
		}
		return nil
	})
	return f.found, err
}

// documentsOf cuts what kustomize has printed: a line of dashes occurs only between documents.
func documentsOf(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
}

// pair is an object as kustomize builds it, and as it would with Kruise's schema.
type pair struct{ plain, known *tree.Node }

// paired are the objects that differ. Neither build adds an object or removes one, so those whose
// names differ, too, correspond in order.
func paired(plain, known []string) []pair {
	left := map[string]int{}
	for _, text := range known {
		left[text]++
	}
	var ones, others []*tree.Node
	for _, text := range plain {
		if left[text] > 0 {
			left[text]--
		} else if n := parsedDocument(text); n != nil {
			ones = append(ones, n)
		}
	}
	for _, text := range known {
		if left[text] > 0 {
			left[text]--
			if n := parsedDocument(text); n != nil {
				others = append(others, n)
			}
		}
	}
	var out []pair
	for _, one := range ones {
		i := slices.IndexFunc(others, func(o *tree.Node) bool { return kindAndName(o) == kindAndName(one) })
		if i < 0 {
			i = slices.IndexFunc(others, func(o *tree.Node) bool { return tree.StrAt(o, "kind") == tree.StrAt(one, "kind") })
		}
		if i >= 0 {
			out = append(out, pair{one, others[i]})
			others = slices.Delete(others, i, i+1)
		}
	}
	return out
}

func kindAndName(n *tree.Node) [3]string {
	return [3]string{tree.StrAt(n, "apiVersion"), tree.StrAt(n, "kind"), tree.StrAt(n, "metadata", "name")}
}

func parsedDocument(text string) *tree.Node {
	var doc tree.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	return tree.Root(&doc)
}

// undecidedFinder goes through the objects that differ.
type undecidedFinder struct {
	job     job
	layers  []layerFile
	patches []patchDocument
	found   []*resource.Error
}

// compare reports the patches of an object whose lists replace what they would be merged into, and
// then the fields that are different for another reason.
func (f *undecidedFinder) compare(plain, known *tree.Node) {
	id := resource.ID{
		Group: resource.GroupOf(tree.StrAt(plain, "apiVersion")), Kind: tree.StrAt(plain, "kind"),
		Namespace: tree.StrAt(plain, "metadata", "namespace"), Name: tree.StrAt(plain, "metadata", "name"),
	}
	schema := openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: tree.StrAt(plain, "apiVersion"), Kind: id.Kind})
	var explained []string
	for _, p := range f.patches {
		if !p.mayMean(id) {
			continue
		}
		for _, l := range mergedLists(schema, p.root, nil) {
			loss := lossOf(tree.Get(plain, l.path...), tree.Get(known, l.path...), l.key)
			if loss == "" {
				continue
			}
			explained = append(explained, strings.Join(l.path, "."))
			f.report(p.fault(f.job, l, loss), id)
		}
	}
	d := fieldDifferences{skip: explained, clusterScoped: clusterScoped(plain)}
	d.walk(plain, known, "")
	f.reportFields(id, d.found)
}

// clusterScoped reports whether the schema in use has a kind outside of namespaces.
func clusterScoped(object *tree.Node) bool {
	scoped, found := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: tree.StrAt(object, "apiVersion"), Kind: tree.StrAt(object, "kind")})
	return found && !scoped
}

func (f *undecidedFinder) report(e *resource.Error, id resource.ID) {
	e.Object, e.Hint = id, f.job.decides()
	f.found = append(f.found, e)
}

// ComponentCommand writes the component which has kustomize know Kruise's kinds.
const ComponentCommand = "kubectl kruise schema kustomize --out kruise"

// decides is what decides whether Kruise's schema takes part.
func (j job) decides() string {
	return fmt.Sprintf("'%s' writes a component for it: list it under components: in %s and in each kustomization below it with such a patch or field, and every kustomize builds the same; --kruise-schema=true uses the schema in this command only, --kruise-schema=false builds without it",
		ComponentCommand, j.Name)
}

// mayMean reports whether a patch may be for an object. Kustomize adds to names, and keeps what
// they were to itself.
func (p patchDocument) mayMean(id resource.ID) bool {
	return (p.kind == "" || p.kind == id.Kind) && strings.Contains(id.Name, p.name)
}

// mergedList is a list of a patch that the schema merges by a key.
type mergedList struct {
	path []string
	key  string
	node *tree.Node
}

// mergedLists are the outermost ones of a patch.
func mergedLists(schema *openapi.ResourceSchema, n *tree.Node, path []string) (out []mergedList) {
	if schema == nil || !tree.IsMap(n) {
		return nil
	}
	tree.Each(n, func(k, v *tree.Node) {
		at := append(slices.Clone(path), k.Value)
		below := schema.Field(k.Value)
		if below == nil || v.Kind != yaml.SequenceNode {
			out = append(out, mergedLists(below, v, at)...)
			return
		}
		if strategy, keys := below.PatchStrategyAndKeyList(); strings.Contains(strategy, "merge") && len(keys) > 0 {
			out = append(out, mergedList{at, keys[0], v})
		}
	})
	return out
}

// fault is what a patch does to a list.
func (p patchDocument) fault(j job, l mergedList, loss string) *resource.Error {
	first, last := span(l.node)
	return &resource.Error{
		File: j.displayPath(p.file), Line: first + p.lines, Field: strings.Join(l.path, "."),
		Err: fmt.Errorf("the patch (%s) replaces the whole list, since %w: %s", linesOf(first+p.lines, last+p.lines), errUndecided, loss),
	}
}

func linesOf(first, last int) string {
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d to %d", first, last)
}

// span are the lines of a value.
func span(n *tree.Node) (first, last int) {
	first, last = n.Line, n.Line
	if tree.IsScalar(n) && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		last += strings.Count(strings.TrimSuffix(n.Value, "\n"), "\n") + 1
	}
	for _, child := range n.Content {
		_, end := span(child)
		last = max(last, end)
	}
	return first, last
}

// lossOf is what a list that was replaced lacks of the one that would be merged, "" where it has all
// of it. Only names of items and of fields are in it.
func lossOf(plain, known *tree.Node, key string) string {
	var dropped, less []string
	for _, item := range tree.Items(known) {
		name := tree.StrAt(item, key)
		i := slices.IndexFunc(tree.Items(plain), func(o *tree.Node) bool { return tree.StrAt(o, key) == name })
		if i < 0 {
			dropped = append(dropped, name+" is dropped")
			continue
		}
		if fields := lostFields(tree.Items(plain)[i], item); len(fields) > 0 {
			less = append(less, name+" loses "+strings.Join(fields, ", "))
		}
	}
	lost := slices.Concat(dropped, less)
	if len(lost) == 0 && !tree.Equal(plain, known) {
		return "the result is different"
	}
	return strings.Join(lost, "; ")
}

// lostFields are the fields of an item that are gone or have less in them.
func lostFields(plain, known *tree.Node) (out []string) {
	tree.Each(known, func(k, v *tree.Node) {
		switch have := tree.Get(plain, k.Value); {
		case have == nil:
			out = append(out, k.Value)
		case !tree.Equal(have, v) && !tree.IsScalar(v):
			out = append(out, "a part of "+k.Value)
		}
	})
	return out
}

// fieldDifferences are the fields of an object that differ, other than below some paths.
type fieldDifferences struct {
	skip          []string
	clusterScoped bool
	found         []fieldDifference
}

type fieldDifference struct {
	path, key    string
	plain, known *tree.Node
}

func (d *fieldDifferences) walk(plain, known *tree.Node, path string) {
	switch {
	case slices.Contains(d.skip, path) || tree.Equal(plain, known):
	case d.clusterScoped && path == "metadata.namespace": // which the API server ignores
	case tree.IsMap(plain) && tree.IsMap(known):
		for _, key := range keysOf(plain, known) {
			at := strings.TrimPrefix(path+"."+key, ".")
			if strings.Contains(key, ".") {
				at = path + "[" + key + "]"
			}
			d.walk(tree.Get(plain, key), tree.Get(known, key), at)
		}
	case tree.IsSeq(plain) && tree.IsSeq(known) && len(plain.Content) == len(known.Content):
		for i := range plain.Content {
			d.walk(plain.Content[i], known.Content[i], fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		d.found = append(d.found, fieldDifference{path, path[strings.LastIndexByte(path, '.')+1:], plain, known})
	}
}

func keysOf(a, b *tree.Node) (out []string) {
	for _, n := range []*tree.Node{a, b} {
		tree.Each(n, func(k, _ *tree.Node) {
			if !slices.Contains(out, k.Value) {
				out = append(out, k.Value)
			}
		})
	}
	return out
}

// causes are the fields of a kustomization that change a field, by what is in its path. The last one is
// of names.
var causes = []struct {
	in      string
	by      []string
	reaches string
}{
	{"replicas", []string{"replicas"}, "replicas: does not reach the field"},
	{"abel", []string{"labels", "commonLabels"}, "labels do not reach the field"},
	{"nnotations", []string{"commonAnnotations"}, "commonAnnotations: do not reach the field"},
	{"mage", []string{"images"}, "images: does not reach the field"},
	{"", []string{"namePrefix", "nameSuffix", "configMapGenerator", "secretGenerator", "namespace"}, "the name is not followed"},
}

// maxFields is how many fields of an object are reported.
const maxFields = 5

// reportFields reports fields with the line of a kustomization whose change does not reach them.
func (f *undecidedFinder) reportFields(id resource.ID, list []fieldDifference) {
	for i, d := range list {
		e := &resource.Error{File: f.job.file(), Field: d.path}
		if i == maxFields {
			e.Field, e.Err = "", fmt.Errorf("%w: %s more differ", errUndecided, counted.Of(len(list)-i, "field"))
			f.report(e, id)
			return
		}
		for _, c := range causes {
			if strings.Contains(d.path, c.in) && f.locate(e, c.by) {
				e.Err = fmt.Errorf("%s, since %w%s", c.reaches, errUndecided, d.names())
				break
			}
		}
		if e.Err == nil {
			e.Err = fmt.Errorf("is different with Kruise's schema, since %w", errUndecided)
		}
		f.report(e, id)
	}
}

// locate fills in the place of the first of these fields in a kustomization.
func (f *undecidedFinder) locate(e *resource.Error, fields []string) bool {
	for _, k := range f.layers {
		for i := 0; i+1 < len(k.root.Content) && tree.IsMap(k.root); i += 2 {
			if slices.Contains(fields, k.root.Content[i].Value) {
				e.File, e.Line = f.job.displayPath(k.file), k.root.Content[i].Line
				return true
			}
		}
	}
	return false
}

// nameFields are fields whose values are names of objects.
var nameFields = wordSet("name secretName claimName serviceAccountName serviceName priorityClassName")

// names are both values of a field that names an object, "" for other fields: their values may be
// secret.
func (d fieldDifference) names() string {
	if !nameFields[d.key] || !tree.IsScalar(d.plain) || !tree.IsScalar(d.known) {
		return ""
	}
	return fmt.Sprintf(": %s is called %s", d.plain.Value, d.known.Value)
}
