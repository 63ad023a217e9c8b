package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// versions are those in which Rollouts are served, the newest first.
var versions = []string{"v1beta1", "v1alpha1"}

func resourceOf(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: Group, Version: version, Resource: "rollouts"}
}

// Get reads a Rollout by its name.
func Get(ctx context.Context, c dynamic.Interface, namespace, name string) (*Rollout, error) {
	for _, version := range versions {
		u, err := c.Resource(resourceOf(version)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			return Read(u)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read rollout/%s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("rollout/%s is not in namespace %s: %w", name, namespace, ErrNone)
}

// ErrNone says that there is no such Rollout.
var ErrNone = errors.New("no such Rollout")

// kinds are what a Rollout can be for (docs/facts/older-plugin.md#spec).
var kinds = map[string][]string{
	"apps":           {kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet},
	"apps.kruise.io": {kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet},
}

// Of finds the Rollout that a workload is in the hands of; nil where there is none,
// where none could be, or where nobody may read them: a workload in the middle of a
// release says so itself.
func Of(ctx context.Context, c dynamic.Interface, w cluster.Ref) (*Rollout, error) {
	if !possible(w) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	list, err := List(ctx, c, w.Namespace)
	return list[w], err
}

// List are the Rollouts of a namespace, or of all for "", by the workloads that they
// drive; none where nobody may read them. A Rollout that is disabled drives nothing.
func List(ctx context.Context, c dynamic.Interface, namespace string) (map[cluster.Ref]*Rollout, error) {
	for _, version := range versions {
		out := map[cluster.Ref]*Rollout{}
		opt := metav1.ListOptions{Limit: pageSize}
		for {
			list, err := c.Resource(resourceOf(version)).Namespace(namespace).List(ctx, opt)
			if apierrors.IsNotFound(err) {
				break
			}
			if apierrors.IsForbidden(err) {
				return nil, nil //nolint:nilnil // as in Of
			}
			if err != nil {
				return nil, fmt.Errorf("cannot read Rollouts: %w", err)
			}
			gather(out, list.Items)
			if opt.Continue = list.GetContinue(); opt.Continue == "" {
				return out, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // that there are none is no error
}

// pageSize bounds one answer of the API server.
const pageSize = 500

// gather adds those that drive a workload; the first of two counts.
func gather(out map[cluster.Ref]*Rollout, items []unstructured.Unstructured) {
	for i := range items {
		r, err := Read(&items[i])
		if err == nil && out[r.Workload] == nil && (!r.Disabled || r.Holds()) {
			out[r.Workload] = r
		}
	}
}

func possible(w cluster.Ref) bool {
	return slices.Contains(kinds[w.Group], w.Kind)
}
