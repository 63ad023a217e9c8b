package apply

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// members is the ApplySet of a run; nil where there is none.
type members struct {
	work   *work
	parent set.Parent
	// recorded is where members may be from before, now where those of this run are.
	recorded, now set.Contents
	// left are those that are to be deleted.
	left []*unstructured.Unstructured
}

// set reads what the parent says, if there is one.
func (w *work) set(ctx context.Context) (*members, error) {
	if w.applySet == "" {
		return nil, nil //nolint:nilnil // no set is no error
	}
	parent, err := set.ParseParent(w.applySet, w.namespace)
	if err != nil {
		return nil, err
	}
	m := &members{work: w, parent: parent}
	there, err := w.client.Get(ctx, m.object(set.Contents{}))
	if err != nil || there == nil {
		return m, err
	}
	if m.recorded, err = parent.Recorded(there.GetLabels(), there.GetAnnotations()); err != nil {
		return nil, &resource.Error{Err: err, Hint: "choose another name for --applyset"}
	}
	return m, nil
}

// object is the parent as it is written.
func (m *members) object(c set.Contents) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind(m.parent.Kind)
	u.SetNamespace(m.parent.Namespace)
	u.SetName(m.parent.Name)
	labels, annotations := m.parent.Metadata(c, version.Get().Version)
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	return u
}

// join makes an object a member.
func (m *members) join(it *item) error {
	if m == nil {
		return nil
	}
	labels, err := m.parent.Labelled(it.object.GetLabels())
	if err != nil {
		return err
	}
	it.object.SetLabels(labels)
	m.now.Add(it.object.GroupVersionKind().GroupKind(), it.object.GetNamespace())
	return nil
}

// owned refuses an object that another set has in the cluster.
func (m *members) owned(it *item) error {
	if m == nil || it.live == nil || m.work.force {
		return nil
	}
	_, err := m.parent.Labelled(it.live.GetLabels())
	if err != nil {
		return &tree.Error{Msg: "in the cluster, it " + err.Error(), Hint: "each object is in one set; --force-conflicts takes it over"}
	}
	return nil
}

// findLeft finds the members that the manifests do not hold any more.
func (m *members) findLeft(ctx context.Context) error {
	if m == nil || !m.work.prune {
		return nil
	}
	kept := map[string]bool{}
	for _, it := range m.work.items {
		if it.live != nil {
			kept[string(it.live.GetUID())] = true
		}
	}
	var found []set.Member
	byUID := map[string]*unstructured.Unstructured{}
	for _, kind := range m.recorded.Kinds {
		list, err := m.list(ctx, kind)
		if err != nil {
			return err
		}
		for i := range list {
			u := &list[i]
			byUID[string(u.GetUID())] = u
			found = append(found, set.Member{
				Kind: kind, Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Leaving: u.GetDeletionTimestamp() != nil,
			})
		}
	}
	for _, one := range set.Left(found, kept, emit.Rank) {
		m.left = append(m.left, byUID[one.UID])
	}
	return nil
}

// list reads the members of one kind, in all namespaces of the set.
func (m *members) list(ctx context.Context, kind schema.GroupKind) ([]unstructured.Unstructured, error) {
	c, selector := m.work.client, set.PartOfLabel+"="+m.parent.ID()
	namespaced, err := c.Namespaced(kind)
	if errors.Is(err, objects.ErrUnknownKind) {
		return nil, nil // nor are there any objects of it
	}
	if err != nil || !namespaced {
		return c.List(ctx, kind, "", selector)
	}
	var out []unstructured.Unstructured
	for _, namespace := range m.recorded.Namespaces {
		list, err := c.List(ctx, kind, namespace, selector)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// contents are what the parent names.
func (m *members) contents(all bool) set.Contents {
	if all || !m.work.prune {
		return m.recorded.With(m.now)
	}
	return m.now
}
