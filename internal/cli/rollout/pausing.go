package rollout

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

// pauseField pauses or resumes a workload without a recorded rollout: its controller stops updating
// pods, or continues.
func (o *control) pauseField(ctx context.Context, s *session) error {
	if r, err := o.releaseOf(ctx, s); err == nil && r != nil {
		return controlledByRelease(s.target.String(), r)
	}
	object, path, on := s.object, pausedPath(s.object), o.action.Transition == plan.TransitionPause
	if err := pausable(object, path, on); err != nil {
		return err
	}
	if o.printer.only() && !o.printer.atServer() {
		return o.printer.resource(o.common, object)
	}
	opt := metav1.PatchOptions{FieldManager: o.manager}
	if o.printer.only() {
		opt.DryRun = []string{metav1.DryRunAll}
	}
	u, err := o.writePause(ctx, s, path, on, opt)
	if err != nil {
		return err
	}
	return o.printer.write(o.common, u)
}

// pausedPath is where an object has its pause, nil where it has none.
func pausedPath(object *resource.Resource) []string {
	return plan.PausedPath(object.Group(), object.Kind(), object.Version())
}

// pausable reports an error where there is nothing to pause, or to take away.
func pausable(object *resource.Resource, path []string, on bool) error {
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
	return &resource.Error{Err: fmt.Errorf("%s %q %s", objectOf(object).Resource.GroupResource(), object.Name(), reason)}
}

// writePause writes the pause of a workload itself.
func (c *common) writePause(ctx context.Context, s *session, path []string, on bool, opt metav1.PatchOptions) (*unstructured.Unstructured, error) {
	client, err := c.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	object, ref := s.object, objectOf(s.object)
	at := client.Resource(ref.Resource).Namespace(object.Namespace())
	return kubeobjects.SetPaused(ctx, at, object.Name(), tree.StrAt(object.Node(), "metadata", "uid"), path, on, opt)
}
