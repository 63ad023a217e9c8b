package rollout

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/pausing"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// pauseField is a verb for workloads that no rollout of ours is on record for: their
// controller keeps its hands off, or goes on.
func pauseField(on bool) func(context.Context, *control, *session) error {
	return func(ctx context.Context, o *control, s *session) error {
		if r, err := o.releaseOf(ctx, s); err == nil && r != nil {
			return inHands(s.target.String(), r)
		}
		return o.pauseIn(ctx, s, on)
	}
}

func (o *control) pauseIn(ctx context.Context, s *session, on bool) error {
	object := s.object
	path := plan.PausedPath(object.Group(), object.Kind(), object.Version())
	is := path != nil && tree.Bool(tree.Get(object.Node(), path...))
	reason := ""
	switch {
	case path == nil && on:
		reason = "pausing is not supported"
	case path == nil:
		reason = "resuming is not supported"
	case on && is:
		reason = "is already paused"
	case !on && !is:
		reason = "is not paused"
	}
	ref := objectOf(object)
	if reason != "" {
		return &resource.Error{Err: fmt.Errorf("%s %q %s", ref.Resource.GroupResource(), object.Name(), reason)}
	}
	if o.print.only() && !o.print.atServer() {
		return o.print.resource(o.common, object)
	}
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	opt := metav1.PatchOptions{FieldManager: o.manager}
	if o.print.only() {
		opt.DryRun = []string{metav1.DryRunAll}
	}
	u, err := pausing.Write(ctx, client.Resource(ref.Resource).Namespace(object.Namespace()), object.Name(), tree.StrAt(object.Node(), "metadata", "uid"), path, on, opt)
	if err != nil {
		return err
	}
	return o.print.write(o.common, u)
}
