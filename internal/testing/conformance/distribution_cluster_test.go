package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// cluster is a model of the API server: objects as they would be read.
type cluster map[key]map[string]any

type key struct{ kind, namespace, name string }

// systemNamespaces exist in every recorded cluster.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system", "kruise-system", "kruise-daemon-config"}

// newCluster holds the namespaces that are there before a case begins: the
// system's, and the case's own, which carries no label.
func newCluster(c Case) cluster {
	out := cluster{}
	for _, name := range append([]string{ownNamespace(c)}, systemNamespaces...) {
		out.put(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	}
	return out
}

// ownNamespace is the case's, and what the names of its others begin with.
func ownNamespace(c Case) string {
	number, _, _ := strings.Cut(c.Name, "-")
	return "fan-dist-" + number
}

func (c cluster) put(o map[string]any) { c[keyOf(o)] = o }

// remove deletes an object, with what the garbage collector deletes then, and
// returns it.
func (c cluster) remove(at key) map[string]any {
	gone := c[at]
	delete(c, at)
	maps.DeleteFunc(c, func(k key, o map[string]any) bool {
		return at.kind == "Namespace" && k.namespace == at.name || at.kind == kruise.KindResourceDistribution && owner(o) == at.name
	})
	return gone
}

// found is the place that a user means who may leave out a namespace, or write
// one where there is none.
func (c cluster) found(at key) key {
	whole := key{kind: at.kind, name: at.name}
	switch {
	case c[at] != nil:
		return at
	case c[whole] != nil:
		return whole
	case at.namespace == "":
		return c.like(at)
	}
	return at
}

// all returns every object, sorted.
func (c cluster) all() []map[string]any {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	out := make([]map[string]any, len(keys))
	for i, k := range keys {
		out[i] = c[k]
	}
	return out
}

// kind returns the objects of a kind, sorted by name, then namespace.
func (c cluster) kind(kind string) []map[string]any {
	return slices.DeleteFunc(c.all(), func(o map[string]any) bool { return kindOf(o) != kind })
}

func keyOf(o map[string]any) key { return key{kindOf(o), namespaceOf(o), nameOf(o)} }

func isDistribution(o map[string]any) bool {
	return kindOf(o) == kruise.KindResourceDistribution && strings.HasPrefix(text(o, "apiVersion"), "apps.kruise.io/")
}

// owner is the ResourceDistribution that controls o, "" when none does.
func owner(o map[string]any) string {
	refs, _ := field(o, "metadata", "ownerReferences").([]any)
	for _, ref := range refs {
		if field(ref, "controller") == true && text(ref, "kind") == kruise.KindResourceDistribution {
			return text(ref, "name")
		}
	}
	return ""
}

// owned returns o with a controller reference to the ResourceDistribution.
func owned(o map[string]any, name string) map[string]any {
	ref := map[string]any{
		"apiVersion": "apps.kruise.io/v1beta1", "kind": kruise.KindResourceDistribution, "name": name,
		"controller": true, "blockOwnerDeletion": true, "uid": name,
	}
	return with(o, "metadata", with(field(o, "metadata"), "ownerReferences", []any{ref}))
}

// with returns a copy of the mapping v in which k is value.
func with(v any, k string, value any) map[string]any {
	m, _ := v.(map[string]any)
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	out[k] = value
	return out
}

// without returns a copy of the mapping v that lacks k.
func without(v any, k string) map[string]any {
	out := with(v, k, nil)
	delete(out, k)
	return out
}

// unlabelled returns o without the label by which we know our own copies: in
// the recorded clusters it is not written, owner references serve there.
func unlabelled(o map[string]any) map[string]any {
	metadata := mapping(o["metadata"])
	labels := without(metadata["labels"], "kubectl-kruise.dev/source")
	if len(labels) == 0 {
		return with(o, "metadata", without(metadata, "labels"))
	}
	return with(o, "metadata", with(metadata, "labels", labels))
}

// body is what Kruise compares of an object: all but metadata and status.
func body(o map[string]any) map[string]any {
	return without(without(o, "metadata"), "status")
}

// merged is the update of live to the copy c: the body is replaced, labels and
// annotations are merged, and those of the copy win.
func merged(live, c map[string]any) map[string]any {
	metadata, _ := field(c, "metadata").(map[string]any)
	for _, k := range []string{"labels", "annotations"} {
		if both := mergePatch(field(live, "metadata", k), metadata[k]); both != nil {
			metadata = with(metadata, k, both)
		}
	}
	return with(c, "metadata", metadata)
}

// mergePatch is RFC 7386, without changing its arguments.
func mergePatch(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		if patch == nil {
			return target
		}
		return patch
	}
	out := without(target, "")
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = mergePatch(out[k], v)
		}
	}
	return out
}
