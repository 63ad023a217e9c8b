package resource

import (
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// DefaultNamespace is where namespaced objects without a namespace live.
const DefaultNamespace = "default"

// Facts is what is known of the cluster: the objects of the input and those
// that were given as context (--with, --live). Context objects are used and
// never emitted. Facts are fixed once made and safe for concurrent readers.
type Facts struct {
	namespace string
	byID      map[ID]*Resource
	existing  map[ID]*Resource
	// ofStream and ofContext hold the objects of each kind, in their order.
	ofStream, ofContext map[groupKind][]*Resource
	memo                memo
}

// groupKind names a kind, whatever its version.
type groupKind struct{ group, kind string }

// NewFacts indexes stream and context. namespace is what an object without
// one means ("" = default).
func NewFacts(stream, context []*Resource, namespace string) *Facts {
	if namespace == "" {
		namespace = DefaultNamespace
	}
	f := &Facts{
		namespace: namespace, byID: make(map[ID]*Resource, len(stream)+len(context)), existing: map[ID]*Resource{},
		ofStream: map[groupKind][]*Resource{}, ofContext: map[groupKind][]*Resource{},
	}
	for _, r := range stream {
		f.add(r, f.ofStream)
	}
	for _, r := range context {
		f.add(r, f.ofContext)
		f.existing[f.IDOf(r)] = r
	}
	return f
}

// add indexes an object. Of several with one ID the first counts.
func (f *Facts) add(r *Resource, kinds map[groupKind][]*Resource) {
	id := r.ID()
	k := groupKind{id.Group, id.Kind}
	kinds[k] = append(kinds[k], r)
	f.name(id, r)
	if id.Namespace == "" {
		id.Namespace = f.namespace
		f.name(id, r)
	}
}

func (f *Facts) name(id ID, r *Resource) {
	if _, taken := f.byID[id]; !taken {
		f.byID[id] = r
	}
}

// NamespaceOf returns the namespace that r lives in, never "". For a
// cluster-scoped object the answer has no meaning.
func (f *Facts) NamespaceOf(r *Resource) string {
	if ns := r.Namespace(); ns != "" {
		return ns
	}
	return f.namespace
}

// IDOf returns the ID of r with its namespace spelled out.
func (f *Facts) IDOf(r *Resource) ID {
	id := r.ID()
	id.Namespace = f.NamespaceOf(r)
	return id
}

// Namespace returns the namespace that an object without one lives in.
func (f *Facts) Namespace() string { return f.namespace }

// Stream returns the objects of kind in the input, in input order. The list is the
// caller's own.
func (f *Facts) Stream(group, kind string) []*Resource {
	return slices.Clone(f.ofStream[groupKind{group, kind}])
}

// Context returns the objects of kind among the context objects.
func (f *Facts) Context(group, kind string) []*Resource {
	return slices.Clone(f.ofContext[groupKind{group, kind}])
}

// All returns the objects of kind in the input, then in the context.
func (f *Facts) All(group, kind string) []*Resource {
	return slices.Concat(f.ofStream[groupKind{group, kind}], f.ofContext[groupKind{group, kind}])
}

// Find returns the object with this ID, the input's before the context's; nil
// when there is none.
func (f *Facts) Find(id ID) *Resource { return f.byID[id] }

// Existing returns the context object that r will replace, nil when there is
// none.
func (f *Facts) Existing(r *Resource) *Resource { return f.existing[f.IDOf(r)] }

// NamespaceLabels returns the labels of a namespace as the API server would
// show them (with kubernetes.io/metadata.name); known is false when no
// Namespace object of that name was given.
func (f *Facts) NamespaceLabels(name string) (labels map[string]string, known bool) {
	labels = map[string]string{}
	if r := f.byID[ID{Kind: "Namespace", Name: name}]; r != nil {
		known = true
		maps.Copy(labels, r.Labels())
	}
	labels["kubernetes.io/metadata.name"] = name
	return labels, known
}

// Namespaces returns the names of all Namespace objects given and not being
// deleted, sorted.
func (f *Facts) Namespaces() []string {
	var names []string
	for _, r := range f.All("", "Namespace") {
		if tree.Get(r.Node(), "metadata", "deletionTimestamp") == nil {
			names = append(names, r.Name())
		}
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// memo holds what stages computed from facts, by keys of their own.
type memo struct{ entries sync.Map }

// Once returns what make works out from these facts, for instance an index over
// objects of one kind, and works it out only once for each key. key is of a type of
// the caller's own; the result is shared and must not change.
func Once[K comparable, V any](f *Facts, key K, work func() V) V {
	once := sync.OnceValue(work)
	found, _ := f.memo.entries.LoadOrStore(key, once)
	return found.(func() V)() //nolint:forcetypeassert // the key's type says so
}
