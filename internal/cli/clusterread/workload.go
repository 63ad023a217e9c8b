package clusterread

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// WorkloadState is one workload with everything that belongs to it, as read from a cluster.
type WorkloadState struct {
	// Object is the workload itself.
	Object *resource.Resource
	Ref    cluster.Ref
	// State has the workload with all that belongs to it.
	State simulate.State
	// Source is the Kruise workload that Object was rendered from where there is no
	// Kruise; nil when Object is the one that was asked for.
	Source *cluster.Workload
	// Skipped says in words what could not be read, and why; the plan is made
	// without it.
	Skipped []string

	// owners are the uids of the controllers of its pods.
	owners  map[string]bool
	budgets budgetLists
}

// ReadWorkload reads the workload that name means, in a namespace that counts for
// those that have one. What is forbidden beside the workload and its pods is
// skipped and reported.
func ReadWorkload(ctx context.Context, c dynamic.Interface, name resourcearg.Name, namespace string) (*WorkloadState, error) {
	r := &workloadReader{ctx: ctx, lister: lister{client: c}}
	r.res.State.Revisions = map[cluster.Ref][]cluster.Revision{}
	object, err := r.find(name, namespace)
	if err != nil {
		return nil, err
	}
	r.res.Object = resource.Parsed(tree.FromValue(object.Object), nil, resource.Origin{File: File})
	w, err := cluster.ReadWorkload(r.res.Object.Node())
	if err != nil {
		return nil, r.res.Object.Wrap(err, "")
	}
	if r.res.Ref = w.Ref; !name.Means(w.Group, w.Kind, w.Name) {
		if r.res.Source, err = ReadSource(r.res.Object, name.Kinds[0].Kind, name.Name); err != nil {
			return nil, err
		}
	}
	r.keep(object)
	if err := r.around(w); err != nil {
		return nil, err
	}
	r.res.Skipped = r.lister.skipped
	return &r.res, nil
}

// FindWorkload reads the object that a name means: the workload, or the native one that
// was rendered from it where there is no Kruise.
func FindWorkload(ctx context.Context, c dynamic.Interface, name resourcearg.Name, namespace string) (*resource.Resource, error) {
	r := &workloadReader{ctx: ctx, lister: lister{client: c}}
	object, err := r.find(name, namespace)
	if err != nil {
		return nil, err
	}
	return resource.Parsed(tree.FromValue(object.Object), nil, resource.Origin{File: File}), nil
}

// workloadReader asks one cluster about one workload.
type workloadReader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one call
	lister lister
	res    WorkloadState
}

// find tries every kind that the name can mean, in the newest version first.
func (r *workloadReader) find(name resourcearg.Name, namespace string) (*unstructured.Unstructured, error) {
	for _, kind := range name.Kinds {
		for _, version := range apiVersionsOf(kind.Group) {
			got, err := r.lister.client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: resourcearg.Plural(kind)}).
				Namespace(namespaceOf(kind, namespace)).Get(r.ctx, name.Name, metav1.GetOptions{})
			switch {
			case err == nil:
				return r.writable(got, name.Name), nil
			case !apierrors.IsNotFound(err):
				return nil, &resource.Error{Err: fmt.Errorf("cannot read %s: %w", name, err), Hint: "check --kubeconfig and --context"}
			}
		}
	}
	if got, err := r.carrier(name, namespace); got != nil || err != nil {
		return got, err
	}
	kind := name.Kinds[0]
	return nil, resourcearg.NotFound(schema.GroupResource{Group: kind.Group, Resource: resourcearg.Plural(kind)}, name.Name, namespaceOf(kind, namespace))
}

// writable is a workload in a version in which it can be written as it is: v1beta1 refuses a CloneSet whose maxUnavailable is
// the number 0, whatever its maxSurge, and v1alpha1 takes it (docs/kruise/workloads.md#cloneset-in-two-versions).
func (r *workloadReader) writable(u *unstructured.Unstructured, name string) *unstructured.Unstructured {
	gvk := u.GroupVersionKind()
	unavailable, found, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	if gvk.Group != kruise.Group || gvk.Kind != kruise.KindCloneSet || gvk.Version != kruise.V1beta1 || !found || fmt.Sprint(unavailable) != "0" {
		return u
	}
	alpha := schema.GroupVersionResource{Group: kruise.Group, Version: kruise.V1alpha1, Resource: resourcearg.Plural(gvk.GroupKind())}
	if got, err := r.lister.client.Resource(alpha).Namespace(u.GetNamespace()).Get(r.ctx, name, metav1.GetOptions{}); err == nil {
		return got
	}
	return u // not served: the check says what is wrong
}

// namespaceOf is the namespace to ask in; SidecarSets have none.
func namespaceOf(kind schema.GroupKind, namespace string) string {
	if kind.Kind == kruise.KindSidecarSet {
		return ""
	}
	return namespace
}

// keep adds an object to the state, without what only makes it long.
func (r *workloadReader) keep(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	r.res.State.Objects = append(r.res.State.Objects, tree.FromValue(u.Object))
}

// list hands every object of the answer to each. The server may answer from its
// cache, which is as old as what a controller sees.
func (r *workloadReader) list(q query, each func(*unstructured.Unstructured) error) error {
	q.cached, q.versions = true, apiVersionsOf(q.group)
	return r.lister.list(r.ctx, q, func(_ schema.GroupVersion, u *unstructured.Unstructured) error { return each(u) })
}

// carrier finds the native object that was rendered from a Kruise workload where there is
// no Kruise: rendering has left a label with the kind and name of its source. nil
// means that there is none.
func (r *workloadReader) carrier(name resourcearg.Name, namespace string) (*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, kind := range name.Kinds {
		if kind.Group != kruise.Group {
			continue
		}
		for _, plural := range []string{"replicasets", "deployments", "statefulsets", "daemonsets"} {
			q := query{
				what: plural, group: "apps", resource: plural, namespace: namespace,
				selector: kruise.SourceLabel + "=" + kruise.SourceValue(kind.Kind, name.Name),
			}
			err := r.list(q, func(u *unstructured.Unstructured) error {
				if metav1.GetControllerOfNoCopy(u) == nil { // a Deployment's ReplicaSets have its labels
					found = append(found, u)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // that there is none is no error
	case 1:
		return found[0], nil
	}
	return nil, &resource.Error{Err: fmt.Errorf("%s was rendered into %s: %s", name, counted.Of(len(found), "workload"), objectNames(found)), Hint: "plan each of them by its own name"}
}

func objectNames(list []*unstructured.Unstructured) string {
	out := make([]string, len(list))
	for i, u := range list {
		out[i] = strings.ToLower(u.GetKind()) + "/" + u.GetName()
	}
	return strings.Join(out, ", ")
}

// SelectWorkloads names the workloads of some kinds that a selector matches, by kind and name.
// What belongs to another workload is left out.
func SelectWorkloads(ctx context.Context, c dynamic.Interface, kinds []schema.GroupKind, namespace, selector string) ([]resourcearg.Name, error) {
	r := &workloadReader{ctx: ctx, lister: lister{client: c}}
	var out []resourcearg.Name
	for _, kind := range kinds {
		add := func(u *unstructured.Unstructured) error {
			if metav1.GetControllerOfNoCopy(u) == nil {
				out = append(out, resourcearg.NameOf(kind, u.GetName()))
			}
			return nil
		}
		if err := r.selected(kind, namespace, selector, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ownedWorkloads names the workloads of a kind that a selector matches and an object controls.
func ownedWorkloads(ctx context.Context, c dynamic.Interface, kind schema.GroupKind, namespace, selector, uid string) ([]resourcearg.Name, error) {
	r := &workloadReader{ctx: ctx, lister: lister{client: c}}
	var out []resourcearg.Name
	err := r.selected(kind, namespace, selector, func(u *unstructured.Unstructured) error {
		if owner := metav1.GetControllerOfNoCopy(u); owner != nil && string(owner.UID) == uid {
			out = append(out, resourcearg.NameOf(kind, u.GetName()))
		}
		return nil
	})
	return out, err
}

// selected lists a kind in the newest version that is served.
func (r *workloadReader) selected(kind schema.GroupKind, namespace, selector string, add func(*unstructured.Unstructured) error) error {
	plural := resourcearg.Plural(kind)
	return r.list(query{what: plural, group: kind.Group, resource: plural, namespace: namespaceOf(kind, namespace), selector: selector, needed: true}, add)
}

// SubsetWorkloads names the workloads of a UnitedDeployment's subsets, in the order given. One
// that has none yet, or several, is an error.
func SubsetWorkloads(ctx context.Context, c dynamic.Interface, u *united.Object) ([]resourcearg.Name, error) {
	var out []resourcearg.Name
	for _, subset := range u.Subsets {
		names, err := ownedWorkloads(ctx, c, u.Kind, u.Namespace, kruise.SubsetNameLabel+"="+subset, u.UID)
		switch {
		case err != nil:
			return nil, err
		case len(names) != 1:
			return nil, &resource.Error{Err: fmt.Errorf("subset %s of UnitedDeployment %s has %s", subset, u.Name, counted.Of(len(names), "workload")), Hint: fmt.Sprintf("the events of its controller have the reason: kubectl describe uniteddeployment %s -n %s", u.Name, u.Namespace)}
		}
		out = append(out, names[0])
	}
	return out, nil
}

// RenderedWorkloads names the workloads that an object of Kruise was rendered into, where
// there is no Kruise, by kind and name.
func RenderedWorkloads(ctx context.Context, c dynamic.Interface, namespace, kind, name string) ([]resourcearg.Name, error) {
	var kinds []schema.GroupKind
	for _, native := range []string{kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindReplicaSet} {
		kinds = append(kinds, schema.GroupKind{Group: "apps", Kind: native})
	}
	kinds = append(kinds, schema.GroupKind{Group: kruise.Group, Kind: kruise.KindCloneSet}, schema.GroupKind{Group: kruise.Group, Kind: kruise.KindStatefulSet})
	return SelectWorkloads(ctx, c, kinds, namespace, kruise.SourceLabel+"="+kruise.SourceValue(kind, name))
}
