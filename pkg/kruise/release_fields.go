package kruise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Reading is an object as a release reads it.
type Reading struct {
	// Object is the object without what the release drops, and with a cloneSetTemplate in
	// the form of CloneSet v1beta1. It shares subtrees with the one that was read: copy
	// before editing.
	Object *tree.Node
	// Dropped are the fields that the release drops without a word.
	Dropped []Absent
	// CloneSet is true if the cloneSetTemplate of a UnitedDeployment was read in the form of
	// CloneSet v1alpha1, as every release up to 1.9 does.
	CloneSet bool
	// ByFields is true if the form was known by its own fields, which v1beta1 does not have.
	ByFields bool
}

const cloneSetTemplate = "spec.template.cloneSetTemplate"

// Read returns an object of Kruise as the release reads it; other objects come back as
// they are. A release that is not known is the newest one.
func (r Release) Read(n *tree.Node) Reading {
	out := Reading{Object: n}
	c := newConversion(n, "")
	for _, a := range r.OrNewest().Absent(n) {
		if a.Kept {
			out.Dropped = append(out.Dropped, a)
		}
	}
	for _, a := range out.Dropped {
		c.removeField(a.FieldHistory)
	}
	spec, older := r.cloneSetSpec(n)
	if spec != nil {
		c.set(cloneSetTemplate+".spec", spec)
		out.CloneSet, out.ByFields = true, older
	}
	if out.CloneSet || len(out.Dropped) > 0 {
		out.Object = c.root
	}
	return out
}

// removeField removes a field wherever it is.
func (c *conversion) removeField(h FieldHistory) {
	dot := strings.LastIndexByte(h.Path, '.')
	in, field := h.Path[:dot], h.Path[dot+1:]
	c.each(in, func(m *tree.Node, _ string) {
		if h.Value == "" || tree.StrAt(m, field) == h.Value {
			tree.Delete(m, field)
		}
	})
}

// cloneSetSpec is the spec of a cloneSetTemplate in the form of CloneSet v1beta1, where
// the release reads that of v1alpha1; nil elsewhere. One in the form of v1beta1 stays as
// it is: no release takes it, and it can mean nothing else.
func (r Release) cloneSetSpec(n *tree.Node) (spec *tree.Node, older bool) {
	root := tree.Root(n)
	template := tree.Get(root, steps(cloneSetTemplate)...)
	if tree.StrAt(root, "kind") != KindUnitedDeployment || tree.StrAt(root, "apiVersion") != Group+"/"+V1alpha1 || !tree.IsMap(tree.Get(template, "spec")) {
		return nil, false
	}
	older, newer := cloneSetForms(tree.Get(template, "spec"))
	if r == Next || newer {
		return nil, false
	}
	clone := tree.Map("apiVersion", tree.String(Group+"/"+V1alpha1), "kind", tree.String(KindCloneSet), "spec", tree.Get(template, "spec"))
	if meta := tree.Get(template, "metadata"); meta != nil {
		tree.Set(clone, "metadata", meta)
	}
	hub, _, err := ToHub(clone)
	if err != nil {
		return nil, false
	}
	return tree.Get(hub, "spec"), older
}

// cloneSetForms reports the fields by which the spec of a cloneSetTemplate can be known
// as one of CloneSet v1alpha1, and as one of v1beta1.
func cloneSetForms(spec *tree.Node) (older, newer bool) {
	strategy, scale := tree.Get(spec, "updateStrategy"), tree.Get(spec, "scaleStrategy")
	older = slices.ContainsFunc(rollingFields, func(name string) bool { return tree.Has(strategy, name) }) || tree.Has(scale, "disablePVCReuse")
	newer = tree.Has(strategy, "rollingUpdate") || tree.Has(scale, "enablePVCReuse") || tree.Has(scale, "excludePreparingDelete")
	switch CloneSetPodUpdateStrategyType(tree.StrAt(strategy, "type")) {
	case RecreateCloneSetPodUpdateStrategyType, InPlaceIfPossibleCloneSetPodUpdateStrategyType, InPlaceOnlyCloneSetPodUpdateStrategyType:
		older = true
	case CloneSetPodUpdateStrategyType(RollingUpdateCloneSetStrategyType):
		newer = true
	}
	return older, newer
}

// ReadPath is the path, in a UnitedDeployment whose cloneSetTemplate was read in the form
// of CloneSet v1alpha1, of a field of the form of v1beta1.
func ReadPath(path string) string {
	rest, ok := strings.CutPrefix(path, cloneSetTemplate+".")
	if !ok {
		return path
	}
	return cloneSetTemplate + "." + kinds[Group+"/"+KindCloneSet].olderPath(rest)
}

// Convert returns an object of Kruise in another version as the release reads both: like
// [FromHub], and with a cloneSetTemplate in the form that the release reads.
func (r Release) Convert(n *tree.Node, version string) (out *tree.Node, lost []Loss, err error) {
	if version == V1beta1 {
		// The release that wrote it is unknown: the form is recognized by its own fields.
		if spec, _ := (Release{}).cloneSetSpec(n); spec != nil {
			c := newConversion(n, "")
			c.set(cloneSetTemplate+".spec", spec)
			n = c.root
		}
	}
	out, lost, err = FromHub(n, version)
	if err != nil || version != V1alpha1 || r.OrNewest() == Next || tree.StrAt(out, "kind") != KindUnitedDeployment {
		return out, lost, err
	}
	spec, more := olderCloneSetSpec(out)
	if spec == nil {
		return out, lost, nil
	}
	c := newConversion(out, "")
	c.set(cloneSetTemplate+".spec", spec)
	return c.root, append(lost, more...), nil
}

// olderCloneSetSpec is the spec of a cloneSetTemplate, written in the form of CloneSet
// v1beta1, in that of v1alpha1; nil where there is none, or it is in that form already.
func olderCloneSetSpec(n *tree.Node) (spec *tree.Node, lost []Loss) {
	template := tree.Get(tree.Root(n), steps(cloneSetTemplate)...)
	spec = tree.Get(template, "spec")
	if older, _ := cloneSetForms(spec); older || !tree.IsMap(spec) {
		return nil, nil
	}
	clone := tree.Map("apiVersion", tree.String(Group+"/"+V1beta1), "kind", tree.String(KindCloneSet), "spec", spec)
	if meta := tree.Get(template, "metadata"); meta != nil {
		tree.Set(clone, "metadata", meta)
	}
	out, lost, err := FromHub(clone, V1alpha1)
	if err != nil {
		return nil, nil
	}
	for i := range lost {
		lost[i].Path = cloneSetTemplate + "." + lost[i].Path
	}
	return tree.Get(out, "spec"), lost
}

// Without returns an object without the fields that the release lacks, and what they are.
// The result may share subtrees with n: copy before editing.
func (r Release) Without(n *tree.Node) (out *tree.Node, absent []Absent) {
	absent = r.Absent(n)
	if len(absent) == 0 {
		return n, nil
	}
	c := newConversion(n, "")
	for _, a := range slices.Backward(absent) {
		c.removeField(a.FieldHistory)
	}
	return c.root, absent
}

// Absent is a field of an object that a release does not have.
type Absent struct {
	// Path is the field in the object, such as spec.containers[0].resourcesPolicy.
	Path string
	// Text: it holds text in the object, and no number.
	Text bool
	// Empty: it is an explicit null, or an empty mapping or list.
	Empty bool
	FieldHistory
}

// Absent returns the fields of an object of Kruise, as it is written, that the release
// lacks; none for other objects. Empty placeholders, as Go's encoder writes them, count
// as not there.
func (r Release) Absent(n *tree.Node) []Absent {
	return slices.DeleteFunc(r.Unknown(n), func(a Absent) bool { return a.Empty })
}

// Unknown returns the fields that an API server with the release refuses in an object as it is
// written: those of [Release.Absent], and empty ones.
func (r Release) Unknown(n *tree.Node) []Absent {
	var out []Absent
	for _, h := range historiesOf(n) {
		if h.Has(r) {
			continue
		}
		for _, at := range places(tree.Root(n), steps(h.Path), "") {
			if h.Value == "" || tree.Str(at.node) == h.Value {
				out = append(out, Absent{Path: at.path, Text: tree.IsString(at.node), Empty: empty(at.node) || tree.IsNull(at.node), FieldHistory: h})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Absent) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Changed returns the fields of an object whose type, values or bounds differ between
// releases.
func Changed(n *tree.Node) []Absent {
	var out []Absent
	for _, h := range historiesOf(n) {
		if h.Changes == "" {
			continue
		}
		for _, at := range places(tree.Root(n), steps(h.Path), "") {
			if tree.IsNull(at.node) {
				continue
			}
			out = append(out, Absent{Path: at.path, Text: tree.IsString(at.node), FieldHistory: h})
		}
	}
	return out
}

// historiesOf are the rows of the object's kind in its version.
func historiesOf(n *tree.Node) []FieldHistory {
	group, version, _ := strings.Cut(tree.StrAt(tree.Root(n), "apiVersion"), "/")
	kind := tree.StrAt(tree.Root(n), "kind")
	if _, ours := Lookup(group, kind); !ours {
		return nil
	}
	var out []FieldHistory
	for _, h := range FieldHistories() {
		if h.Kind == kind && h.Version == version {
			out = append(out, h)
		}
	}
	return out
}

// place is a value with the path that leads to it.
type place struct {
	path string
	node *tree.Node
}

// places are the values that a path with [] and {} leads to.
func places(n *tree.Node, path []string, at string) []place {
	if len(path) == 0 {
		return []place{{at, n}}
	}
	key := strings.TrimRight(path[0], "[]{}")
	next := tree.Get(n, key)
	if next == nil {
		if len(path) == 1 && tree.Has(n, key) { // an explicit null
			return []place{{join(at, key), nil}}
		}
		return nil
	}
	var out []place
	children(next, path[0][len(key):], func(child *tree.Node, suffix string) {
		out = append(out, places(child, path[1:], join(at, key)+suffix)...)
	})
	return out
}

// children calls f with the values that the brackets behind a key name: [] for the
// elements of a list, {} for the values of a mapping.
func children(n *tree.Node, brackets string, f func(child *tree.Node, suffix string)) {
	switch {
	case brackets == "":
		f(n, "")
	case strings.HasPrefix(brackets, "[]"):
		for i, item := range tree.Items(n) {
			children(item, brackets[2:], func(child *tree.Node, suffix string) { f(child, fmt.Sprintf("[%d]", i)+suffix) })
		}
	default:
		tree.Each(n, func(key, value *tree.Node) {
			children(value, brackets[2:], func(child *tree.Node, suffix string) { f(child, "["+key.Value+"]"+suffix) })
		})
	}
}
