package stage

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Target is an object that a reference can name.
type Target struct {
	APIVersion, Kind, Name string
}

// Lineage records what objects became, so that references can follow.
type Lineage struct {
	mu     sync.Mutex
	now    map[resource.ID][]Target
	shares map[resource.ID]Sharing
}

// Sharing is how the replicas of an object that was split are shared out.
type Sharing interface {
	// At is how many of total replicas each of the objects that it became has, in their
	// order; nil where total cannot be shared out.
	At(total int32) []int32
}

// newLineage returns an empty record.
func newLineage() *Lineage {
	return &Lineage{now: map[resource.ID][]Target{}, shares: map[resource.ID]Sharing{}}
}

// Split records that the object old is now targets, which share its replicas.
func (l *Lineage) Split(old resource.ID, by Sharing, targets ...*resource.Resource) {
	l.Became(old, targets...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shares[old] = by
}

// Shares is how total replicas of old are shared out over what it became; nil where it was
// not split, or total cannot be shared out.
func (l *Lineage) Shares(old resource.ID, total int32) []int32 {
	l.mu.Lock()
	by := l.shares[old]
	l.mu.Unlock()
	if by == nil {
		return nil
	}
	return by.At(total)
}

// Became records that the object old is now what is in targets, main object
// first; helpers such as a headless Service do not belong there. No targets:
// it is gone.
func (l *Lineage) Became(old resource.ID, targets ...*resource.Resource) {
	list := make([]Target, 0, len(targets))
	for _, t := range targets {
		list = append(list, Target{APIVersion: t.APIVersion(), Kind: t.Kind(), Name: t.Name()})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now[old] = list
}

// IDs returns every object that has become something else, sorted.
func (l *Lineage) IDs() []resource.ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]resource.ID, 0, len(l.now))
	for id := range l.now {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b resource.ID) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return ids
}

// Resolve returns what id is at the end of all stages; followed is false when
// nothing is recorded, that is, the object is still what it was.
func (l *Lineage) Resolve(id resource.ID) (targets []Target, followed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resolve(id, 0)
}

// resolve follows at most a few steps: a stage never makes what an earlier
// stage expands.
func (l *Lineage) resolve(id resource.ID, depth int) ([]Target, bool) {
	list, ok := l.now[id]
	if !ok || depth > 8 {
		return nil, false
	}
	var out []Target
	for _, t := range list {
		next := resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: id.Namespace, Name: t.Name}
		if further, ok := l.resolve(next, depth+1); ok && next != id {
			out = append(out, further...)
			continue
		}
		out = append(out, t)
	}
	return out, true
}

// Annotations in which kustomize keeps what an object was called before: lists
// of the same length (docs/facts/kustomize.md#what-kustomize-makes-of-a-functions-output).
const (
	previousNames      = "internal.config.kubernetes.io/previousNames"
	previousNamespaces = "internal.config.kubernetes.io/previousNamespaces"
)

// FormerIDs are the IDs that kustomize knew an object by before, namespaces
// spelled out: while it runs, references still hold those names.
func FormerIDs(f *resource.Facts, r *resource.Resource) (out []resource.ID) {
	if r.Annotation(previousNames) == "" {
		return nil
	}
	spaces := strings.Split(r.Annotation(previousNamespaces), ",")
	for i, name := range strings.Split(r.Annotation(previousNames), ",") {
		id := f.IDOf(r)
		id.Name = name
		out = append(out, id)
		if i < len(spaces) && spaces[i] != "" {
			id.Namespace = spaces[i]
			out = append(out, id)
		}
	}
	return out
}

// ForgetOrigin removes from an object what kustomize and kpt keep about the one
// object that it is a copy of, but for the annotations to keep: each of these
// values must be on one object only. Its metadata must be its own.
func ForgetOrigin(n *tree.Node, keep ...string) {
	annotations := tree.Get(n, "metadata", "annotations")
	for key := range tree.Strings(annotations) {
		switch {
		case slices.Contains(keep, key):
		case strings.HasPrefix(key, "internal.config.kubernetes.io/"),
			strings.HasPrefix(key, "kustomize.config.k8s.io/"),
			key == "config.k8s.io/id", key == "config.kubernetes.io/index", key == "config.kubernetes.io/path":
			tree.Delete(annotations, key)
		}
	}
	if tree.IsMap(annotations) && len(annotations.Content) == 0 {
		tree.DeleteAt(n, "metadata", "annotations")
	}
}
