package load

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// older reads sources for kubectl, which takes YAML 1.1 where the parser knows 1.2.
func older(ctx context.Context, sources []source, opt Options) ([]*resource.Resource, error) {
	all, err := read(ctx, sources, opt)
	if ctx.Err() != nil {
		return all, err
	}
	faults, stopped := each(ctx, len(all), func(i int) error { return all[i].Reread() })
	if stopped != nil {
		return nil, stopped
	}
	var errs resource.Errors
	errs.Add(err)
	return all, append(errs, faults...).Err()
}
