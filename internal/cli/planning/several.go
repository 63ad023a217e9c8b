package planning

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
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
