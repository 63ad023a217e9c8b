package render

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
)

// before returns the state before as the stages look things up in it: what was
// split then is split, so that the workload of each subset is found. It is nil
// without one. What there would be to say of it nobody wants to hear again.
func (o Options) before(expand func(string) bool) (*resource.Facts, error) {
	if len(o.Base) == 0 {
		return nil, nil //nolint:nilnil // no state before is no error
	}
	in := make([]*resource.Resource, len(o.Base))
	for i, r := range o.Base {
		in[i] = resource.Parsed(tree.Clone(tree.Root(r.Node())), nil, r.Origin)
	}
	o.Explain = false
	out, err := split.Run(o.context(in, &finding.Reporter{}, expand), in)
	if err != nil {
		return nil, err
	}
	return resource.NewFacts(out, nil, o.Namespace), nil
}
