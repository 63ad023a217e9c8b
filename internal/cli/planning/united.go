package planning

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/observe"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// CompleteUnited reads the flags of a plan for the UnitedDeployment of a name in the cluster,
// whose new images come to its subsets one after the other. Errors are of usage.
func (o *Options) CompleteUnited(name string) error {
	o.united = name
	switch {
	case o.FromFiles():
		return usage.Errorf("plan the workload of a subset, or 'kubectl kruise diff' of two files", "--against is not for a UnitedDeployment: its subsets are in a cluster")
	case !o.Images():
		return usage.Errorf("give --image CONTAINER=IMAGE", "nothing to plan")
	}
	o.Several = true
	if err := o.CompleteSubsets(); err != nil {
		return err
	}
	return o.limits.Complete()
}

// eachSubset is what the command line asks for, once for the workload of each subset in the
// order in which they are rolled out.
func (o *Options) eachSubset(ctx context.Context) ([]One, error) {
	client, namespace, err := o.Factory.InNamespace()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, o.united)
	if err != nil {
		return nil, err
	}
	names, err := observe.Subsets(ctx, client, u)
	if err != nil {
		return nil, err
	}
	out := make([]One, len(names))
	for i, n := range names {
		found, err := observe.Find(ctx, client, n, namespace)
		if err != nil {
			return nil, err
		}
		one := o.For(n)
		one.Counted = true
		one.Change = func(object *resource.Resource, s plan.Snapshot) (*resource.Resource, error) {
			changed, err := o.SetImages(object)
			if err != nil {
				return nil, err
			}
			return Released(changed, s)
		}
		out[i] = One{Options: one, Name: n, Manifest: found}
	}
	return out, nil
}

// Released is a subset's workload without a partition, when its turn has come.
func Released(object *resource.Resource, _ plan.Snapshot) (*resource.Resource, error) {
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		tree.SetAt(out.Edit(), tree.Int64(0), path...)
	}
	return out, nil
}
