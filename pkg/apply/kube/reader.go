package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// reader reads objects of a cluster once, without watching them. It never writes.
type reader struct {
	client  dynamic.Interface
	skipped []string
}

// newReader returns a reader; it asks nothing yet.
func newReader(client dynamic.Interface) *reader { return &reader{client: client} }

// objectQuery names objects of one resource, in whatever version of it is served.
type objectQuery struct {
	// Description names the objects in errors, such as "stored revisions".
	Description string
	Resource    schema.GroupResource
	// Namespace is empty for all of them, and for resources without.
	Namespace string
	// Selector is a label selector, Name the only object; both may be empty.
	Selector, Name string
	// Needed makes it an error that the objects are not served or may not be read.
	Needed bool
}

// List hands every object to each, page by page, in the newest version that is served.
// Objects that are not needed and may not be read are skipped, see [Reader.Skipped].
func (r *reader) List(ctx context.Context, q objectQuery, each func(*unstructured.Unstructured) error) error {
	err := r.listNewest(ctx, q, each)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotServed) && !q.Needed:
		return nil
	case apierrors.IsForbidden(err) && !q.Needed:
		r.skipped = append(r.skipped, fmt.Sprintf("%s: %v", q.Description, err))
		return nil
	}
	return err
}

// Skipped says in words what could not be read and was not needed.
func (r *reader) Skipped() []string { return slices.Clone(r.skipped) }

func (r *reader) listNewest(ctx context.Context, q objectQuery, each func(*unstructured.Unstructured) error) error {
	for _, version := range versionsOf(q.Resource.Group) {
		err := r.listPages(ctx, q, version, each)
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", q.Description, errNotServed)
}

func (r *reader) listPages(ctx context.Context, q objectQuery, version string, each func(*unstructured.Unstructured) error) error {
	client := r.client.Resource(q.Resource.WithVersion(version)).Namespace(q.Namespace)
	opt := metav1.ListOptions{LabelSelector: q.Selector}
	if q.Name != "" {
		opt.FieldSelector = "metadata.name=" + q.Name
	}
	var refused error
	err := objects.Pages(ctx, client, opt, func(u *unstructured.Unstructured) error {
		if err := each(u); err != nil {
			refused = fmt.Errorf("%s %s: %w", strings.TrimSuffix(q.Description, "s"), u.GetName(), err)
		}
		return refused
	})
	if err == nil || refused != nil {
		return err
	}
	return fmt.Errorf("cannot read %s: %w", q.Description, err)
}

// kindPod is the kind of a workload that is one pod, see [connection.isPod].
const kindPod = "Pod"

// versionsOf are the versions in which the resources of a group may be served, newest first.
func versionsOf(group string) []string {
	if group == kruise.Group || group == kruise.PolicyGroup {
		return []string{kruise.V1beta1, kruise.V1alpha1}
	}
	return []string{"v1"}
}

// surroundings are the queries for everything besides a workload that decides on its
// rollout; nil where a kind has none.
type surroundings struct {
	// Pods are those that the selector matches; which of them the workload owns, their
	// owners say.
	Pods *objectQuery
	// ReplicaSets own the pods of a Deployment; other kinds have Revisions.
	ReplicaSets, Revisions *objectQuery
	// Nodes are nil where no rule looks at them, Namespaces for all but SidecarSets.
	Nodes, Namespaces *objectQuery
	// Disruptions and Budgets are those of Kubernetes and of Kruise.
	Disruptions, Budgets *objectQuery
}

// surroundingsOf is the one place that says where these are.
func surroundingsOf(w *cluster.Workload) (surroundings, error) {
	selector, err := metav1.LabelSelectorAsSelector(plan.SelectorOf(w))
	if err != nil {
		return surroundings{}, err
	}
	out := surroundings{
		Pods:        &objectQuery{"pods", schema.GroupResource{Resource: "pods"}, w.Namespace, selector.String(), "", true},
		Revisions:   &objectQuery{"stored revisions", schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, w.Namespace, selector.String(), "", false},
		Disruptions: &objectQuery{"PodDisruptionBudgets", schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}, w.Namespace, "", "", false},
		Budgets:     &objectQuery{"PodUnavailableBudgets", schema.GroupResource{Group: kruise.PolicyGroup, Resource: "podunavailablebudgets"}, w.Namespace, "", "", false},
	}
	switch w.Kind {
	case kruise.KindDeployment:
		out.Revisions, out.ReplicaSets = nil, &objectQuery{"ReplicaSets", schema.GroupResource{Group: "apps", Resource: "replicasets"}, w.Namespace, selector.String(), "", true}
	case kruise.KindReplicaSet:
		out.Revisions = nil
	case kindPod:
		out.Revisions, out.Pods.Selector, out.Pods.Name = nil, "", w.Name
	case kruise.KindSidecarSet:
		out.Revisions.Namespace, out.Revisions.Selector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+w.Name
		out.Namespaces = &objectQuery{"namespaces", schema.GroupResource{Resource: "namespaces"}, "", "", "", false}
	}
	if w.LooksAtNodes() {
		out.Nodes = &objectQuery{"nodes", schema.GroupResource{Resource: "nodes"}, "", "", "", w.Kind == kruise.KindDaemonSet}
	}
	return out, nil
}
