package apply

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// work is one run: what there is, what should be, and how far it has come.
type work struct {
	*options

	client *objects.Client
	// namespace is where objects without one live, where names the cluster.
	namespace, where string
	items            []*item
	facts            []*resource.Resource
	members          *members
}

// item is one object of the manifests.
type item struct {
	manifest *resource.Resource
	// object is what is sent, live what is there (nil for nothing), final what the
	// server would make of both.
	object, live, final *unstructured.Unstructured
	// held is the final state with what a rollout drives as it is now; rolls are the
	// fields that it drives then.
	held  *unstructured.Unstructured
	rolls []string
	// ref is the workload as its rollout is recorded, where the rollouts are a group.
	ref cluster.Ref
	// early: what the object needs is among the manifests and not there yet.
	early bool
}

// look renders, and reads what is there. It finds all faults that can be found
// without writing.
func (o *options) look(ctx context.Context) (*work, error) {
	rendered, facts, err := o.render.Run(ctx)
	if err != nil {
		return nil, err
	}
	w, err := o.connect()
	if err != nil {
		return nil, err
	}
	w.facts = facts
	for _, r := range rendered {
		w.items = append(w.items, &item{manifest: r, object: &unstructured.Unstructured{Object: content(r)}})
	}
	if w.members, err = w.set(ctx); err != nil {
		return nil, err
	}
	var errs resource.Errors
	for _, it := range w.items {
		errs.Add(it.fault(w.read(ctx, it)))
	}
	if err := errs.Err(); err != nil {
		return nil, advised(err)
	}
	return w, w.members.look(ctx)
}

func (o *options) connect() (*work, error) {
	cfg, err := o.factory.Config()
	if err != nil {
		return nil, err
	}
	w := &work{options: o, where: cfg.Host}
	if w.namespace, err = o.factory.NamespaceOrDefault(); err != nil {
		return nil, err
	}
	w.client, err = objects.New(cfg, o.fieldManager)
	return w, err
}

// content is what is sent of an object: the status is not the manifest's to say.
func content(r *resource.Resource) map[string]any {
	v, _ := tree.Value(r.Node()).(map[string]any)
	if v == nil {
		v = map[string]any{}
	}
	delete(v, "status")
	return v
}

// read fills in one item.
func (w *work) read(ctx context.Context, it *item) error {
	if it.object.GetName() == "" {
		return errors.New("has no name: what is applied needs one")
	}
	if err := w.place(it); err != nil {
		return err
	}
	if err := w.members.join(it); err != nil || it.early {
		return err
	}
	var err error
	if it.live, err = w.client.Get(ctx, it.object); err != nil {
		return err
	}
	if err := w.members.owned(it); err != nil {
		return err
	}
	if it.live != nil && w.dryRun == "none" {
		if it.live, err = w.client.Adopt(ctx, it.live, kube.FieldManager); err != nil {
			return err
		}
	}
	set.KeepMark(it.live, it.object)
	return w.foresee(ctx, it)
}

// place puts an object into its namespace. A kind that a definition among the
// manifests brings is not known yet.
func (w *work) place(it *item) error {
	if err := w.lift(it); err != nil {
		return err
	}
	gvk := it.object.GroupVersionKind()
	namespaced, err := w.client.Namespaced(gvk.GroupKind(), gvk.Version)
	if errors.Is(err, objects.ErrUnknownKind) {
		defined, scoped := w.defines(gvk.Group, gvk.Kind)
		if !defined {
			return w.unserved(gvk)
		}
		it.early, namespaced, err = true, scoped, nil
	}
	switch {
	case err != nil:
		return err
	case !namespaced:
		it.object.SetNamespace("")
	case it.object.GetNamespace() == "":
		it.object.SetNamespace(w.namespace)
	}
	return nil
}

// defines reports whether the manifests define a kind, and whether it has
// namespaces.
func (w *work) defines(group, kind string) (defined, namespaced bool) {
	for _, it := range w.items {
		u := it.object.Object
		named, _, _ := unstructured.NestedString(u, "spec", "names", "kind")
		of, _, _ := unstructured.NestedString(u, "spec", "group")
		if it.object.GetKind() == definition && named == kind && of == group {
			scope, _, _ := unstructured.NestedString(u, "spec", "scope")
			return true, scope == "Namespaced"
		}
	}
	return false, false
}

const definition = "CustomResourceDefinition"

// foresee asks the server what would become of an object.
func (w *work) foresee(ctx context.Context, it *item) error {
	var err error
	switch {
	case w.dryRun != "client":
		it.final, err = w.client.Apply(ctx, it.object, w.how(true))
	case it.live != nil:
		it.final = set.Overlay(it.live, it.object)
	}
	if it.live == nil && apierrors.IsNotFound(err) && w.brings("Namespace", it.object.GetNamespace()) {
		it.early = true
		return nil
	}
	if err == nil && it.live != nil && it.driven() {
		it.held, it.rolls = set.Held(it.live, it.final)
	}
	return err
}

// brings reports whether an object of the core group is among the manifests.
func (w *work) brings(kind, name string) bool {
	for _, it := range w.items {
		if it.manifest.Is("", kind) && it.object.GetName() == name {
			return true
		}
	}
	return false
}

// how is how objects are applied.
func (o *options) how(dryRun bool) objects.Apply {
	return objects.Apply{Force: o.force, DryRun: dryRun, Ours: []string{kube.FieldManager}}
}

// fault places an error at the object; what it advises stays.
func (it *item) fault(err error) error {
	placed, _ := it.manifest.Wrap(err, "").(*resource.Error) //nolint:errorlint // that is what Wrap makes
	if inner, ok := errors.AsType[*resource.Error](err); ok && placed != nil && placed.Hint == "" {
		placed.Hint = inner.Hint
	}
	if placed == nil {
		return nil
	}
	return placed
}

// advised gives the last of several conflicts kubectl's advice, which is long.
func advised(err error) error {
	var all resource.Errors
	all.Add(err)
	for _, one := range slices.Backward(all) {
		place, ok := errors.AsType[*resource.Error](one)
		if !ok {
			continue
		}
		if _, conflict := errors.AsType[*objects.ConflictError](place.Err); conflict {
			place.Hint = objects.ConflictHint
			break
		}
	}
	return all.Err()
}
