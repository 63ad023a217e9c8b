// Package observe reads from a cluster what a plan starts from: one workload,
// its revisions and pods, the nodes where they matter, and the budgets. It reads
// and never writes, in pages, and reads no Secret.
package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/state"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// File is the origin of what comes from a cluster.
const File = "(cluster)"

// Result is what a cluster told of one workload.
type Result struct {
	// Object is the workload itself.
	Object *resource.Resource
	Ref    cluster.Ref
	// State has the workload with all that belongs to it.
	State simulate.State
	// Source is the Kruise workload that Object stands for where there is no
	// Kruise; nil when Object is the one that was asked for.
	Source *cluster.Workload
	// Skipped says in words what could not be read, and why; the plan is made
	// without it.
	Skipped []string

	// owners are the uids of the controllers of its pods.
	owners  map[string]bool
	budgets budgets
}

// Workload reads the workload that name means, in a namespace that counts for
// those that have one. What is forbidden beside the workload and its pods is
// skipped and said.
func Workload(ctx context.Context, c dynamic.Interface, name named.Name, namespace string) (*Result, error) {
	r := &reader{ctx: ctx, client: c}
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
		if r.res.Source, err = state.Source(r.res.Object, name.Kinds[0].Kind, name.Name); err != nil {
			return nil, err
		}
	}
	r.keep(object)
	if err := r.around(w); err != nil {
		return nil, err
	}
	return &r.res, nil
}

// Find reads the object that a name means: the workload, or the native one that
// stands for it where there is no Kruise.
func Find(ctx context.Context, c dynamic.Interface, name named.Name, namespace string) (*resource.Resource, error) {
	r := &reader{ctx: ctx, client: c}
	object, err := r.find(name, namespace)
	if err != nil {
		return nil, err
	}
	return resource.Parsed(tree.FromValue(object.Object), nil, resource.Origin{File: File}), nil
}

// reader asks one cluster about one workload.
type reader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one call
	client dynamic.Interface
	res    Result
}

// find tries every kind that the name can mean, in the newest version first.
func (r *reader) find(name named.Name, namespace string) (*unstructured.Unstructured, error) {
	for _, kind := range name.Kinds {
		for _, version := range versionsOf(kind.Group) {
			got, err := r.client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: named.Plural(kind)}).
				Namespace(scope(kind, namespace)).Get(r.ctx, name.Name, metav1.GetOptions{})
			switch {
			case err == nil:
				return got, nil
			case !apierrors.IsNotFound(err):
				return nil, &resource.Error{Err: fmt.Errorf("cannot read %s: %w", name, err), Hint: "check --kubeconfig and --context"}
			}
		}
	}
	if got, err := r.carrier(name, namespace); got != nil || err != nil {
		return got, err
	}
	where := "namespace " + namespace
	if scope(name.Kinds[0], namespace) == "" {
		where = "the cluster"
	}
	return nil, &resource.Error{Err: &named.AbsentError{Text: fmt.Sprintf("%s is not in %s", name, where)}, Hint: "check the name and -n"}
}

func versionsOf(group string) []string {
	if group == kruise.Group {
		return []string{kruise.V1beta1, kruise.V1alpha1}
	}
	return []string{"v1"}
}

// scope is the namespace to ask in; SidecarSets have none.
func scope(kind schema.GroupKind, namespace string) string {
	if kind.Kind == kruise.KindSidecarSet {
		return ""
	}
	return namespace
}

// keep adds an object to the state, without what only makes it long.
func (r *reader) keep(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	r.res.State.Objects = append(r.res.State.Objects, tree.FromValue(u.Object))
}

// pageSize bounds one answer of the API server.
const pageSize = 500

// query is one question to the API server.
type query struct {
	what      string
	resource  schema.GroupVersionResource
	namespace string
	selector  string
	// needed says that there is no plan without an answer.
	needed bool
	// versioned says that there are other versions to ask for.
	versioned bool
}

// list hands every object of the answer to each. The server may answer from its
// cache, which is as old as what a controller sees.
func (r *reader) list(q query, each func(*unstructured.Unstructured) error) error {
	opt := metav1.ListOptions{LabelSelector: q.selector, Limit: pageSize, ResourceVersion: "0"}
	for {
		page, err := r.client.Resource(q.resource).Namespace(q.namespace).List(r.ctx, opt)
		if err != nil {
			return r.failed(q, err)
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return fmt.Errorf("%s %s: %w", strings.TrimSuffix(q.what, "s"), page.Items[i].GetName(), err)
			}
		}
		if opt.Continue, opt.ResourceVersion = page.GetContinue(), ""; opt.Continue == "" {
			return nil
		}
	}
}

func (r *reader) failed(q query, err error) error {
	switch {
	case apierrors.IsNotFound(err) && q.versioned:
		return err
	case apierrors.IsNotFound(err) && !q.needed: // not served here
		return nil
	case apierrors.IsForbidden(err) && !q.needed:
		r.res.Skipped = append(r.res.Skipped, fmt.Sprintf("%s: %v", q.what, err))
		return nil
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("cannot read %s: %w", q.what, err)
}
