package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// restored brings back what the object was before it became what it is now.
func (p piece) restored(c *stage.Context) error {
	k, ok := readKept(p.was.Node())
	removeMetadataKey(p.become, "annotations", kruise.ConvertedFromAnnotation)
	if ok && k.Kind == p.way.to.kind && resource.GroupOf(k.APIVersion) == p.way.to.group {
		n, err := k.restore(tree.Root(p.become.Edit()))
		if err != nil {
			return p.was.Wrap(err, "")
		}
		*p.become.Edit() = *n
		c.Findings.Add("convert/restored", p.was, "metadata.annotations["+kruise.ConvertedFromAnnotation+"]", "")
	}
	c.Lineage.Became(p.was.ID(), p.become)
	return nil
}

// restore brings the fields back, in the version that they were written in.
// Where that version cannot hold all that there is by now, the newest stays.
func (k kept) restore(n *tree.Node) (*tree.Node, error) {
	newest := n
	n, lost, err := inVersion(n, k.APIVersion)
	if err != nil {
		return nil, err
	}
	for _, f := range k.Fields {
		n = restored(n, f, f.Path)
	}
	if len(lost) == 0 {
		return n, nil
	}
	if n, _, err = kruise.ToHub(n); err != nil {
		return nil, err
	}
	for _, l := range lost {
		value, _ := tree.At(newest, l.Path)
		n = restored(n, field{Had: tree.Value(value)}, tree.Steps(l.Path))
	}
	return n, nil
}

// inVersion returns an object of Kruise in a version of its kind; all others
// have one only.
func inVersion(n *tree.Node, apiVersion string) (*tree.Node, []kruise.Loss, error) {
	group, version, _ := strings.Cut(apiVersion, "/")
	if tree.StrAt(n, "apiVersion") == apiVersion || !kruise.Serves(group, tree.StrAt(n, "kind"), version) {
		return n, nil, nil
	}
	return kruise.FromHub(n, version)
}

// keep writes down what going back from here would not bring back.
func (o Options) keep(c *stage.Context, out []*resource.Resource, pieces []piece) error {
	back := map[*resource.Resource]direction{}
	for _, p := range pieces {
		back[p.become] = direction{from: p.way.to, to: p.way.from}
	}
	o.Raise = RaiseOptions{} // options of the way there do not apply to the way back
	unheard := o.context(c.Running, out)
	_, undone, err := o.convertObjects(unheard, out, func(r *resource.Resource) (direction, bool) {
		way, ok := back[r]
		return way, ok
	})
	if stop := c.Stopped(); stop != nil {
		return stop
	}
	if err != nil {
		return fmt.Errorf("the result cannot be converted back: %w", err)
	}
	again := make(map[*resource.Resource]*resource.Resource, len(undone))
	for _, u := range undone {
		u.prune(unheard)
		again[u.was] = u.become
	}
	return eachPiece(c, pieces, func(p piece) error {
		if u := again[p.become]; u != nil {
			return o.annotate(c, p, u)
		}
		return nil
	})
}

// annotate compares the object as it was with what would come back.
func (o Options) annotate(c *stage.Context, p piece, undone *resource.Resource) error {
	again, _, err := inVersion(tree.Root(undone.Node()), p.was.APIVersion())
	if err != nil {
		return p.was.Wrap(err, "")
	}
	had, made := comparableContent(tree.Root(p.was.Node())), comparableContent(again)
	k := kept{APIVersion: p.was.APIVersion(), Kind: p.was.Kind(), Fields: differences(made, had, nil)}
	for i := range k.Fields {
		f := &k.Fields[i]
		if f.Text, err = written(tree.Root(p.was.Node()), f.Path, f.Had); err != nil {
			return p.was.Wrap(err, "")
		}
	}
	if len(k.Fields) == 0 && (k.APIVersion == undone.APIVersion() || isDefaultVersion(undone, k.APIVersion)) {
		return nil
	}
	const field = "metadata"
	if o.Forget {
		c.Findings.Add("convert/forgotten", p.was, field, "")
		return nil
	}
	c.Findings.Add("convert/kept", p.was, field, "")
	text, err := k.text()
	if err != nil {
		return p.was.Wrap(err, "")
	}
	convertedFrom(p.become.Edit(), text)
	return nil
}

// isDefaultVersion reports whether a version is the one in which objects of the kind are made for the
// newest release of Kruise, so that going back gives it anyway.
func isDefaultVersion(r *resource.Resource, apiVersion string) bool {
	versions := kruise.NewestRelease.Versions(r.Group(), r.Kind())
	return len(versions) > 0 && apiVersion == r.Group()+"/"+versions[len(versions)-1]
}

// convertedFrom writes the annotation with the former content of an object.
func convertedFrom(n *tree.Node, text *tree.Node) {
	meta := stage.Block(tree.Get(n, "metadata"))
	annotations := tree.Map()
	if have := tree.Get(meta, "annotations"); tree.IsMap(have) {
		annotations = stage.Block(have)
	}
	tree.Set(annotations, kruise.ConvertedFromAnnotation, text)
	tree.Set(meta, "annotations", annotations)
	tree.Set(n, "metadata", meta)
}

func (k kept) text() (*tree.Node, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(k); err != nil {
		return nil, err
	}
	n := tree.String(string(bytes.TrimSpace(b.Bytes())))
	n.Style = yaml.SingleQuotedStyle
	return n, nil
}

// comparableContent is an object as a user would write it: without its status, what
// belongs to it in a cluster, and our annotation.
func comparableContent(n *tree.Node) any {
	out := stage.Retype(n, "", "", func(m *tree.Node) *tree.Node {
		m = stage.WithoutServerFields(m)
		if have := tree.Get(m, "annotations"); tree.Has(have, kruise.ConvertedFromAnnotation) {
			have = tree.Shallow(have)
			tree.Delete(have, kruise.ConvertedFromAnnotation)
			if tree.Set(m, "annotations", have); len(have.Content) == 0 {
				tree.Delete(m, "annotations")
			}
		}
		return m
	}, func(spec *tree.Node) *tree.Node { return spec })
	return tree.Value(out)
}

// kept is the former content of an object that its present kind cannot express: the value of the
// annotation [kruise.ConvertedFromAnnotation].
type kept struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Fields     []field `json:"fields,omitempty"`
}

// field is one place at which converting back alone would not give what was
// there. A value that is not there is nil.
type field struct {
	// Path are keys; a step into a list is the name of an element.
	Path []string `json:"path"`
	// Had is what was there.
	Had any `json:"had,omitempty"`
	// Text is the original text, if it has more than the values.
	Text string `json:"text,omitempty"`
	// Made is what converting back made of it at that time. Where it makes
	// something else by now, it was changed meanwhile, and the change counts.
	Made any `json:"made,omitempty"`
}

// readKept reads the annotation of an object; an invalid text counts as none.
func readKept(n *tree.Node) (k kept, ok bool) {
	text := tree.StrAt(n, "metadata", "annotations", kruise.ConvertedFromAnnotation)
	if text == "" || kubejson.Unmarshal([]byte(text), &k) != nil {
		return kept{}, false
	}
	return k, true
}

// differences lists, in the order of their paths, where had differs from made.
func differences(made, had any, path []string) []field {
	if reflect.DeepEqual(made, had) {
		return nil
	}
	if a, b, ok := asMappings(made, had); ok {
		return differencesOfMaps(a, b, path)
	}
	if a, b, ok := asNamedItems(made, had); ok {
		return differencesOfMaps(a, b, path)
	}
	return []field{{Path: slices.Clone(path), Had: had, Made: made}}
}

// asMappings returns two values as mappings where they are some; nothing is one
// removeMetadataKey keys. One that was written without keys must come back as such.
func asMappings(a, b any) (map[string]any, map[string]any, bool) {
	x, okA := a.(map[string]any)
	y, okB := b.(map[string]any)
	ok := (okA && len(x) > 0 || a == nil) && (okB && len(y) > 0 || b == nil)
	return x, y, ok
}

func differencesOfMaps(made, had map[string]any, path []string) (out []field) {
	keys := map[string]any{}
	maps.Copy(keys, made)
	maps.Copy(keys, had)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differences(made[key], had[key], append(slices.Clip(path), key))...)
	}
	return out
}

// asNamedItems returns two lists as mappings by the names of their elements, where they
// have the same names in the same order.
func asNamedItems(a, b any) (map[string]any, map[string]any, bool) {
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if !okA || !okB || len(listA) != len(listB) || len(listA) == 0 {
		return nil, nil, false
	}
	byA, byB := map[string]any{}, map[string]any{}
	for i := range listA {
		x, y := nameOf(listA[i]), nameOf(listB[i])
		if x == "" || x != y || byA[x] != nil {
			return nil, nil, false
		}
		byA[x], byB[x] = listA[i], listB[i]
	}
	return byA, byB, true
}

func nameOf(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// restored returns n with the field as it was, unless it was changed since.
// Every level on the way is a copy.
func restored(n *tree.Node, f field, path []string) *tree.Node {
	if len(path) == 0 {
		if !reflect.DeepEqual(tree.Value(n), f.Made) {
			return n
		}
		if f.Had == nil {
			return nil
		}
		return f.originalValue()
	}
	if tree.IsSeq(n) {
		item, i := tree.Find(n, "name", path[0])
		if item == nil {
			return n
		}
		n = tree.Shallow(n)
		n.Content[i] = restored(item, f, path[1:])
		return n
	}
	if n == nil {
		n = tree.Map()
	} else if !tree.IsMap(n) {
		return n
	}
	return restoredKey(n, f, path)
}

func restoredKey(n *tree.Node, f field, path []string) *tree.Node {
	before := tree.Get(n, path[0])
	after := restored(before, f, path[1:])
	if after == before {
		return n
	}
	n = tree.Shallow(n)
	if after != nil {
		tree.Set(n, path[0], after)
		f.comment(n, path)
		return n
	}
	tree.Delete(n, path[0])
	if len(n.Content) == 0 {
		return nil
	}
	return n
}
