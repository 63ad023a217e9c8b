package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
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
	report           *reporter
	// faults are those of objects that could not be read.
	faults resource.Errors
}

// item is one object of the manifests.
type item struct {
	manifest *resource.Resource
	// object is what is sent, live what is there (nil for nothing), final what the
	// server would make of both.
	object, live, final *unstructured.Unstructured
	// rolls are the fields that differ and that a rollout writes, with the rest of the spec;
	// where there are none, the object is applied outright.
	rolls []string
	// ref is the workload as its rollout is recorded, where the rollouts are a group.
	ref cluster.Ref
	// clientSide are the managers that have applied the object on the client's side, until their
	// fields are taken over.
	clientSide []string
	// early: what the object needs is among the manifests and not there yet.
	early bool
	// unread: it could not be found out what there is.
	unread bool
}

// united reports whether an object's pods are those of its subsets' workloads.
func (it *item) united() bool { return it.manifest.Is(kruise.Group, kruise.KindUnitedDeployment) }

// hasPods reports whether an object has pods that are waited for.
func (it *item) hasPods() bool {
	return it.united() || cluster.IsWorkload(it.manifest.Group(), it.manifest.Kind())
}

// driven reports whether a change of the object's template comes to its pods by plan.
// Subsets that are Deployments have nothing that holds them back.
func (it *item) driven() bool {
	return it.hasPods() && (!it.united() || united.Read(it.final).Paced())
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

// read renders, and reads what is there.
func (o *options) read(ctx context.Context) (*work, error) {
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
	r := &reader{w}
	reading := o.factory.Working("reading").Of(len(w.items), "object")
	defer reading.Stop()
	for i, it := range w.items {
		reading.Done(i)
		if err := r.find(ctx, it); err != nil {
			it.unread = true
			w.faults.Add(it.fault(err))
		}
	}
	return w, nil
}

// foresee finds what the server would make of all objects, and all faults that can be found without
// writing.
func (w *work) foresee(ctx context.Context) error {
	errs, r := w.faults, &reader{w}
	comparing := w.factory.Working("comparing").Of(len(w.items), "object")
	defer comparing.Stop()
	for i, it := range w.items {
		comparing.Done(i)
		if !it.unread {
			errs.Add(it.fault(r.foresee(ctx, it)))
		}
	}
	if err := errs.Err(); err != nil {
		return advised(err)
	}
	return w.members.findLeft(ctx)
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
	w.report = &reporter{out: o.factory.Streams.Out, json: o.rollouts.JSON(), dryRun: o.dryRun, namespace: w.namespace}
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

// reader reads what is in the cluster of each object of the manifests, and what the server
// would make of it.
type reader struct{ *work }

// read fills in one item.
func (r *reader) read(ctx context.Context, it *item) error {
	if err := r.find(ctx, it); err != nil {
		return err
	}
	return r.foresee(ctx, it)
}

// find finds what there is of an object.
func (r *reader) find(ctx context.Context, it *item) error {
	if it.object.GetName() == "" {
		return errors.New("has no name: what is applied needs one")
	}
	if err := r.place(it); err != nil {
		return err
	}
	if err := r.members.join(it); err != nil || it.early {
		return err
	}
	var err error
	if it.live, err = r.client.Get(ctx, it.object); err != nil {
		return err
	}
	if it.live != nil {
		it.clientSide = objects.ClientSide(it.live)
	}
	return r.members.owned(it)
}

// foresee finds what the server would make of an object.
func (r *reader) foresee(ctx context.Context, it *item) error {
	if it.early {
		return nil
	}
	var err error
	if it.live != nil && r.dryRun == "none" {
		if it.live, err = r.client.Adopt(ctx, it.live, kube.FieldManager); err != nil {
			return err
		}
	}
	set.KeepMark(it.live, it.object)
	if it.live != nil {
		markBegun(it.object, it.live.GetAnnotations()[plan.BegunAnnotation])
	}
	return r.predict(ctx, it)
}

// markBegun sets [plan.BegunAnnotation] of an object that is to be applied, or removes it: a rollout in progress that is
// applied again is continued on other machines by it.
func markBegun(object *unstructured.Unstructured, mark string) {
	annotations := object.GetAnnotations()
	if annotations[plan.BegunAnnotation] == mark {
		return
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[plan.BegunAnnotation] = mark
	if mark == "" {
		if delete(annotations, plan.BegunAnnotation); len(annotations) == 0 {
			annotations = nil
		}
	}
	object.SetAnnotations(annotations)
}

// place puts an object into its namespace. A kind that a definition among the
// manifests brings is not known yet.
func (r *reader) place(it *item) error {
	if err := r.toHub(it); err != nil {
		return err
	}
	gvk := it.object.GroupVersionKind()
	namespaced, err := r.client.Namespaced(gvk.GroupKind(), gvk.Version)
	if errors.Is(err, objects.ErrUnknownKind) {
		defined, scoped := r.defines(gvk.Group, gvk.Kind)
		if !defined {
			return r.unserved(gvk)
		}
		it.early, namespaced, err = true, scoped, nil
	}
	switch {
	case err != nil:
		return err
	case !namespaced:
		it.object.SetNamespace("")
	case it.object.GetNamespace() == "":
		it.object.SetNamespace(r.namespace)
	}
	return nil
}

// defines reports whether the manifests define a kind, and whether it has
// namespaces.
func (r *reader) defines(group, kind string) (defined, namespaced bool) {
	for _, it := range r.items {
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

// unserved is the error of a kind that the cluster does not serve, or not in that version.
func (r *reader) unserved(gvk schema.GroupVersionKind) error {
	msg := fmt.Sprintf("the cluster does not serve %s %s", gvk.GroupVersion(), gvk.Kind)
	other := r.client.Version(gvk.GroupKind())
	_, ours := kruise.Lookup(gvk.Group, gvk.Kind)
	switch {
	case other != "" && ours:
		return &tree.Error{Msg: msg + ", but " + other, Hint: "'kubectl kruise convert -f FILE --to-version " + other + "' writes it in that version; --target auto does so before it applies"}
	case other != "":
		return &tree.Error{Msg: msg + ", but " + other, Hint: "write it in that version"}
	case ours:
		return &tree.Error{Msg: msg, Hint: "install Kruise, or render its kinds with --target native"}
	}
	return &tree.Error{Msg: msg, Hint: "install what defines it"}
}

// toHub has an Advanced StatefulSet sent as v1beta1 wherever the cluster serves that: a write
// as v1alpha1 drops fields of its status, which Kruise does not write again until a pod
// moves (docs/kruise/versions.md).
func (r *reader) toHub(it *item) error {
	gvk := it.object.GroupVersionKind()
	if gvk.Group != kruise.Group || gvk.Kind != kruise.KindStatefulSet || gvk.Version != kruise.V1alpha1 {
		return nil
	}
	if _, err := r.client.Namespaced(gvk.GroupKind(), kruise.V1beta1); err != nil {
		return nil //nolint:nilerr // it is sent as it is
	}
	hub, _, err := kruise.ToHub(tree.FromValue(it.object.Object))
	if err != nil {
		return err
	}
	fields, _ := tree.Value(hub).(map[string]any)
	it.object = &unstructured.Unstructured{Object: fields}
	return nil
}

// predict asks the server what would become of an object.
func (r *reader) predict(ctx context.Context, it *item) error {
	var err error
	switch {
	case r.dryRun != "client":
		how := r.how(true)
		how.Ours = append(how.Ours, it.clientSide...)
		it.final, err = r.client.Apply(ctx, it.object, how)
	case it.live != nil:
		it.final = set.Overlay(it.live, it.object)
	}
	if it.live == nil && apierrors.IsNotFound(err) && r.brings("Namespace", it.object.GetNamespace()) {
		it.early = true
		return nil
	}
	if err == nil && it.live != nil && it.driven() {
		it.rolls = set.Rolls(it.live, it.final)
		if len(it.rolls) == 0 && it.live.GetAnnotations()[plan.BegunAnnotation] != "" {
			it.rolls = []string{set.Begun} // its last step is not done, or has failed
		}
	}
	return err
}

// brings reports whether an object of the core group is among the manifests.
func (r *reader) brings(kind, name string) bool {
	for _, it := range r.items {
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

// fromCluster is the origin of what is there.
var fromCluster = resource.Origin{File: clusterread.File}

func parsed(u *unstructured.Unstructured, from resource.Origin) *resource.Resource {
	return resource.Parsed(tree.FromValue(u.Object), nil, from)
}
