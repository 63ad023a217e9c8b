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
// those workloads. One that Kruise would refuse stays as it is; the error says why.
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
		var refused resource.Errors
		for _, f := range check.Object(alone, check.Request{Object: r}) {
			if !f.Accepted {
				refused.Add(f.Error)
			}
		}
		made := []*resource.Resource{r}
		if err = refused.Err(); err == nil {
			made, err = split.Run(alone, made)
		}
		if errs.Add(err); err == nil {
			parts[r.ID()] = made
		}
		out = append(out, made...)
	}
	return out, parts, errs.Err()
}
