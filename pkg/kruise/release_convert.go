package kruise

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Convert returns an object of Kruise in another version as the release reads both: like
// [FromHub], and with a cloneSetTemplate in the form that the release reads.
func (r Release) Convert(n *tree.Node, version string) (out *tree.Node, lost []Loss, err error) {
	if version == V1beta1 {
		// Which release wrote it is not said: it is read by its own fields.
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
