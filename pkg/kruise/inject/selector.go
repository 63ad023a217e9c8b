package inject

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func compileSelector(n *tree.Node) (labels.Selector, error) {
	s, err := readSelector(n)
	if err != nil {
		return nil, err
	}
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, tree.Errorf(n, "", "", "%v", err)
	}
	return sel, nil
}

func readSelector(n *tree.Node) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	_, err := tree.Decode(n, s)
	return s, err
}

// podSelector reads spec.selector; nil or empty matches nothing.
func podSelector(spec *tree.Node) (labels.Selector, error) {
	n := tree.Get(spec, "selector")
	if n == nil {
		return labels.Nothing(), nil
	}
	sel, err := compileSelector(n)
	if err != nil {
		return nil, inSpec(below(spec, "selector", err))
	}
	if sel.Empty() {
		return labels.Nothing(), nil
	}
	return sel, nil
}

// namespaceSelector is spec.namespaceSelector, with the part that the name of
// the namespace alone decides.
type namespaceSelector struct {
	all  labels.Selector
	name labels.Selector
	// nameOnly: name is the whole selector.
	nameOnly bool
	pinned   bool
}

func compileNamespaces(spec *tree.Node) (*namespaceSelector, error) {
	n := tree.Get(spec, "namespaceSelector")
	if n == nil {
		return nil, nil //nolint:nilnil // no selector: every namespace
	}
	s, err := readSelector(n)
	if err == nil {
		var sel labels.Selector
		if sel, err = compileSelector(n); err == nil {
			return splitNamespaces(s, sel), nil
		}
	}
	return nil, inSpec(below(spec, "namespaceSelector", err))
}

func splitNamespaces(s *metav1.LabelSelector, all labels.Selector) *namespaceSelector {
	out := &namespaceSelector{all: all, name: labels.NewSelector(), nameOnly: true}
	requirements, _ := all.Requirements()
	for _, r := range requirements {
		if r.Key() == kruise.NamespaceNameLabel {
			out.name = out.name.Add(r)
		} else {
			out.nameOnly = false
		}
	}
	_, out.pinned = s.MatchLabels[kruise.NamespaceNameLabel]
	out.pinned = out.pinned || slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == kruise.NamespaceNameLabel && r.Operator == metav1.LabelSelectorOpIn
	})
	return out
}

// pins reports whether the selector names the namespace itself, which puts the
// set before the cluster-wide ones.
func (n *namespaceSelector) pins() bool { return n != nil && n.pinned }

// match evaluates the selector; undecided is true when only the labels of the
// unknown Namespace object could tell.
func (n *namespaceSelector) match(t *Target) (matched, undecided bool) {
	switch {
	case n == nil:
		return true, false
	case t.NamespaceKnown || n.nameOnly:
		return n.all.Matches(labels.Set(t.NamespaceLabels)), false
	case !n.name.Matches(labels.Set(t.NamespaceLabels)):
		return false, false
	}
	return false, true
}
