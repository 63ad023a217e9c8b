package planning

import (
	"context"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gates"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Workloads names the workloads of -f or -k, in their order; none without them.
func (o *Options) Workloads(ctx context.Context) ([]named.Name, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	var out []named.Name
	for _, r := range o.loaded {
		if !cluster.IsWorkload(r.Group(), r.Kind()) || o.name != nil && !o.name.Means(r.Group(), r.Kind(), r.Name()) {
			continue
		}
		n, err := named.Parse(named.Typed(r))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// For returns the options for one of several workloads.
func (o *Options) For(n named.Name) Options {
	out := *o
	out.name = &n
	return out
}

// CompleteSubsets checks the flags of a verb whose workloads are found later, and
// that may have nothing to change: it goes on, then. Errors are of usage.
func (o *Options) CompleteSubsets() error {
	if o.manifests() {
		return usage.Errorf("give --image CONTAINER=IMAGE; other changes: apply the manifest with partitions that hold its subsets, then run without --image", "-f and -k are not for a UnitedDeployment")
	}
	if o.changes() {
		if err := o.validate(); err != nil {
			return err
		}
	}
	var err error
	o.gates, err = gates.Parse(o.given)
	return err
}

// Images reports whether new images are given.
func (o *Options) Images() bool { return len(o.images) > 0 }

// SetImages is a workload with the new images.
func (o *Options) SetImages(r *resource.Resource) (*resource.Resource, error) {
	out := resource.Parsed(tree.Clone(r.Node()), nil, r.Origin)
	for _, image := range o.images {
		container, ref, _ := strings.Cut(image, "=")
		if err := setImage(out, container, ref); err != nil {
			return nil, err
		}
	}
	return out, nil
}
