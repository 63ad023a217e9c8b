package session

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// PausedPath is where an object has its pause, nil where it has none.
func PausedPath(object *resource.Resource) []string {
	return plan.PausedPath(object.Group(), object.Kind(), object.Version())
}

// Pausable reports an error where there is nothing to pause, or to take away.
func Pausable(object *resource.Resource, path []string, on bool) error {
	is := path != nil && tree.Bool(tree.Get(object.Node(), path...))
	var reason string
	switch {
	case path == nil && on:
		reason = "pausing is not supported"
	case path == nil:
		reason = "resuming is not supported"
	case on && is:
		reason = "is already paused"
	case !on && !is:
		reason = "is not paused"
	default:
		return nil
	}
	return &resource.Error{Err: fmt.Errorf("%s %q %s", ObjectOf(object).Resource.GroupResource(), object.Name(), reason)}
}

// WritePause writes the pause of a workload itself.
func (c *Client) WritePause(ctx context.Context, s *Session, path []string, on bool, opt metav1.PatchOptions) (*unstructured.Unstructured, error) {
	client, err := c.Factory.Dynamic()
	if err != nil {
		return nil, err
	}
	object, ref := s.Object, ObjectOf(s.Object)
	at := client.Resource(ref.Resource).Namespace(object.Namespace())
	return kubeobjects.SetPaused(ctx, at, object.Name(), tree.StrAt(object.Node(), "metadata", "uid"), path, on, opt)
}
