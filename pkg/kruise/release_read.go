package kruise

import (
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
	// CloneSet says that the cloneSetTemplate of a UnitedDeployment was read in the form of
	// CloneSet v1alpha1, as every release up to 1.9 does.
	CloneSet bool
	// ByFields says that the form was known by its own fields, which v1beta1 does not have.
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
