package planning

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// inSubsets puts the workloads of its subsets in the place of each UnitedDeployment, as its controller
// makes them (docs/kruise/distribution.md). Where one is named, no other workload stays. parts are
// those workloads. The error is what Kruise would refuse of one.
func (o *Options) inSubsets(ctx context.Context, list []*resource.Resource) (out []*resource.Resource, parts map[resource.ID][]*resource.Resource, err error) {
	parts = map[resource.ID][]*resource.Resource{}
	var errs resource.Errors
	for _, r := range list {
		switch is := r.Is(kruise.Group, kruise.KindUnitedDeployment); {
		case o.united != "" && (is && r.Name() != o.united || cluster.IsWorkload(r.Group(), r.Kind())):
			continue
		case !is:
			out = append(out, r)
			continue
		}
		alone := stage.New(resource.NewFacts([]*resource.Resource{r}, nil, ""), stage.Options{Explain: &stage.Explain{}, Expand: stage.ExpandAll, Kruise: o.gates.Release, Running: ctx})
		for _, f := range check.Object(alone, check.Request{Object: r}) {
			if !f.Accepted {
				errs.Add(f.Error)
			}
		}
		if errs.Err() != nil {
			continue
		}
		made, err := split.Run(alone, []*resource.Resource{r})
		errs.Add(err)
		out, parts[r.ID()] = append(out, made...), made
	}
	return out, parts, errs.Err()
}
