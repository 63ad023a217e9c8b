package kruise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Absent is a field of an object that a release does not have.
type Absent struct {
	// Path is the field in the object, such as spec.containers[0].resourcesPolicy.
	Path string
	// Text: it holds text in the object, and no number.
	Text bool
	FieldHistory
}

// Absent returns the fields of an object of Kruise, as it is written, that the release
// lacks; none for other objects. Empty placeholders, as Go's encoder writes them, count
// as not there.
func (r Release) Absent(n *tree.Node) []Absent {
	var out []Absent
	for _, h := range historiesOf(n) {
		if h.Has(r) {
			continue
		}
		for _, at := range places(tree.Root(n), steps(h.Path), "") {
			if (h.Value == "" || tree.Str(at.node) == h.Value) && !empty(at.node) && !tree.IsNull(at.node) {
				out = append(out, Absent{Path: at.path, Text: tree.IsString(at.node), FieldHistory: h})
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
