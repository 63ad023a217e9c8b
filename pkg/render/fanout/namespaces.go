package fanout

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/selectors"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// namespaces is what is known of the cluster's namespaces.
type namespaces struct {
	// names are those that can hold a copy, sorted.
	names []string
	// labels are theirs, as the API server shows them.
	labels map[string]labels.Set
	// text names some of them, index finds those that a selector may match.
	text  string
	index *selectors.Labelled
	// terminating are those on their way out.
	terminating map[string]bool
	// complete: the context holds an inventory, so what is neither there nor in
	// the input does not exist. Namespace objects of the input alone prove
	// nothing, since in many repositories namespaces are managed elsewhere.
	complete bool
}

func knownNamespaces(f *resource.Facts) namespaces {
	n := namespaces{labels: map[string]labels.Set{}, terminating: map[string]bool{}}
	n.complete = len(f.Context("", "Namespace")) > 0
	for _, r := range f.All("", "Namespace") {
		if tree.Get(r.Node(), "metadata", "deletionTimestamp") != nil {
			n.terminating[r.Name()] = true
		}
	}
	for _, name := range f.Namespaces() {
		if !n.terminating[name] {
			n.names = append(n.names, name)
			n.labels[name], _ = f.NamespaceLabels(name)
		}
	}
	n.text = list(n.names)
	n.index = selectors.NewLabelled(len(n.names), func(i int) map[string]string { return n.labels[n.names[i]] })
	return n
}

// candidates are the namespaces that a distribution may choose without naming them.
func (n namespaces) candidates(d *distribution) map[string]labels.Set {
	if d.targets.AllNamespaces {
		return n.labels
	}
	out := map[string]labels.Set{}
	if d.selector != nil {
		for _, place := range n.index.Candidates(d.selector) {
			out[n.names[place]] = n.labels[n.names[place]]
		}
	}
	return out
}

// has reports whether a copy can go to the namespace; known is false when
// it is not known.
func (n namespaces) has(name string) (exists, known bool) {
	if _, ok := slices.BinarySearch(n.names, name); ok {
		return true, true
	}
	if name == resource.DefaultNamespace {
		return true, true // no API server is without it
	}
	return false, n.complete || n.terminating[name]
}
