package inject

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// transfer is one entry of transferEnv (docs/kruise/sidecarset.md#transferenv).
type transfer struct {
	// source is the container's name, unless it comes from an annotation or a
	// label of the pod.
	source string
	from   *podField
	// names are sorted and unique.
	names []string
}

// podField is an annotation or a label of the pod. An unsupported path makes
// the entry void.
type podField struct {
	list, key string
	void      bool
}

func compileTransfers(n *tree.Node) []transfer {
	var out []transfer
	for _, entry := range tree.Items(n) {
		t := transfer{source: tree.StrAt(entry, "sourceContainerName")}
		if name := tree.StrAt(entry, "envName"); name != "" {
			t.names = append(t.names, name)
		}
		for _, name := range tree.Items(tree.Get(entry, "envNames")) {
			t.names = append(t.names, tree.Str(name))
		}
		slices.Sort(t.names)
		t.names = slices.Compact(t.names)
		if ref := tree.Get(entry, "sourceContainerNameFrom", "fieldRef"); ref != nil {
			f := parsePodField(tree.StrAt(ref, "fieldPath"))
			t.from = &f
		}
		out = append(out, t)
	}
	return out
}

// parsePodField reads metadata.annotations['KEY'] or metadata.labels['KEY'].
func parsePodField(path string) podField {
	for _, list := range []string{"annotations", "labels"} {
		rest, ok := strings.CutPrefix(path, "metadata."+list+"['")
		if !ok {
			continue
		}
		key, ok := strings.CutSuffix(rest, "']")
		// Annotation keys count in any case, as for Kubernetes' own field paths.
		checked := key
		if list == "annotations" {
			checked = strings.ToLower(key)
		}
		if ok && len(validation.IsQualifiedName(checked)) == 0 {
			return podField{list: list, key: key}
		}
	}
	return podField{void: true}
}

// SupportedFieldPath reports whether sourceContainerNameFrom can resolve path.
func SupportedFieldPath(path string) bool { return !parsePodField(path).void }

// transferred resolves the entries of transferEnv, in order.
func (in *injection) transferred(entries []transfer) []*tree.Node {
	var out []*tree.Node
	for _, t := range entries {
		source := t.source
		if t.from != nil {
			if t.from.void {
				continue
			}
			source = tree.StrAt(in.metadata, t.from.list, t.from.key)
		}
		at, ok := in.containerAt()[source]
		if source == "" || !ok || in.ours[source] {
			continue
		}
		out = append(out, pick(in.containers[at], t.names)...)
	}
	return out
}

// pick returns the container's env of these names; the last definition of a
// name counts.
func pick(container *tree.Node, names []string) []*tree.Node {
	var out []*tree.Node
	env := tree.Items(tree.Get(container, "env"))
	for _, name := range names {
		for _, e := range slices.Backward(env) {
			if tree.StrAt(e, "name") == name {
				out = append(out, bare(e))
				break
			}
		}
	}
	return out
}
