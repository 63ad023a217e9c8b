package fanout

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// namespaces is what is known of the cluster's namespaces.
type namespaces struct {
	// names are those that can hold a copy, sorted.
	names []string
	// labels are theirs, as the API server shows them.
	labels map[string]labels.Set
	// terminating are those on their way out.
	terminating map[string]bool
	// complete: the context holds an inventory, so what is neither there nor in
	// the input does not exist. Namespace objects of the input alone prove
	// nothing, as many a repository leaves namespaces to somebody else.
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
	return n
}

// has reports whether a copy can go to the namespace; known is false when
// nobody can tell.
func (n namespaces) has(name string) (exists, known bool) {
	if _, ok := slices.BinarySearch(n.names, name); ok {
		return true, true
	}
	if name == resource.DefaultNamespace {
		return true, true // no API server is without it
	}
	return false, n.complete || n.terminating[name]
}
