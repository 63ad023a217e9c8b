package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// object is one stored object with what its controller keeps about it.
type object struct {
	ref cluster.Ref
	// doc is the object as it was written, in its version, without status.
	doc *tree.Node
	// workload is nil for kinds that no controller here runs.
	workload  *cluster.Workload
	revisions []cluster.Revision
	// templates are pods as the revisions make them, by name of the revision.
	templates map[string]*blueprint
	pods      podList
	survey    rules.Survey
	// parent is the Deployment of a ReplicaSet, children those of a Deployment.
	parent   *object
	children []*object
	turn
	// refusals are how often in a row its writes were refused, refusal is why the
	// last one was.
	refusals int
	refusal  string
	// version counts its changes and those of its pods.
	version  uint64
	progress plan.Progress
	// recorded is the version at which progress was recorded last.
	recorded uint64
	verified map[string]plan.Result
	pulled   pulled
	// pulling are images that were asked for.
	pulling map[string]bool
	// pulls are those that went wrong.
	pulls map[string]plan.PullState
	// restarts are those that were asked for, by plan.RestartKey.
	restarts map[string]restart
	// carrier is the native object that stands for this one, which then has no
	// controller; shadow is the other way round.
	carrier, shadow *object
	// base is what a snapshot has as the template on record.
	base map[string]any
}

func newObject(ref cluster.Ref) *object {
	return &object{
		ref: ref, templates: map[string]*blueprint{}, verified: map[string]plan.Result{}, pulling: map[string]bool{},
		pulls: map[string]plan.PullState{}, restarts: map[string]restart{},
	}
}

// lookup returns an object, or an error that wraps [plan.ErrNotFound].
func (w *World) lookup(ref cluster.Ref) (*object, error) {
	if o := w.objects[ref]; o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("%s: %w", ref, plan.ErrNotFound)
}

// sorted returns the objects in the order of their names: nothing may depend on
// the order of a map.
func (w *World) sorted() []*object {
	out := slices.Collect(maps.Values(w.objects))
	slices.SortFunc(out, func(a, b *object) int { return compareRefs(a.ref, b.ref) })
	return out
}

func compareRefs(a, b cluster.Ref) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
}

// ownerOf returns the object that an owner reference of a namespace names: by
// its uid or, where that is not known, by its name.
func (w *World) ownerOf(namespace string, owner cluster.Owner) *object {
	if o := w.owners[owner.UID]; o != nil || owner.Kind == "" {
		return o
	}
	for _, o := range w.sorted() {
		if o.ref.Kind == owner.Kind && o.ref.Name == owner.Name && o.ref.Namespace == namespace && o.workload != nil {
			return o
		}
	}
	return nil
}

// touch notes that a snapshot of the object would show something new.
func (w *World) touch(o *object) {
	for ; o != nil; o = o.parent {
		o.version++
		if o.shadow != nil {
			o.shadow.version++
		}
	}
}

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	return apiVersion[:max(strings.LastIndexByte(apiVersion, '/'), 0)]
}

// refOf reads the reference of a document.
func refOf(n *tree.Node) cluster.Ref {
	return cluster.Ref{
		Group: groupOf(tree.StrAt(n, "apiVersion")), Kind: tree.StrAt(n, "kind"),
		Namespace: tree.StrAt(n, "metadata", "namespace"), Name: tree.StrAt(n, "metadata", "name"),
	}
}
