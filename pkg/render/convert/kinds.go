package convert

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/raise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Options choose what [ToKinds] does.
type Options struct {
	Targets
	// Chosen says which objects are converted; nil means all that can be.
	Chosen func(*resource.Resource) bool
	// Raise is what native kinds cannot say.
	Raise raise.Options
	// Forget keeps nothing for the way back.
	Forget bool
	// Kubernetes is the minor version of the API server that the output is for;
	// 0 means the newest that is known.
	Kubernetes int
	// Namespace is where objects without one live ("" = default).
	Namespace string
	// Context are objects that exist in the cluster: used, never emitted.
	Context []*resource.Resource
	// Stop, when set, is asked between objects; its error ends the conversion.
	Stop func() error
}

// Result is what became of the input.
type Result struct {
	Resources []*resource.Resource
	Findings  []finding.Finding
	// Converted is how many objects have another kind now.
	Converted int
}

// ToKinds makes the objects of one kind into those of its counterpart, and
// references to them follow. What the new kind cannot hold is kept in an
// annotation, so that converting back gives what was there. All other objects
// stay as they are, to the byte. The resources of in belong to ToKinds
// afterwards.
func ToKinds(in []*resource.Resource, opt Options) (*Result, error) {
	c := opt.context(in)
	out, pieces, err := opt.swap(c, in, opt.goes)
	if err != nil {
		return nil, err
	}
	err = inTurn(c, pieces, func(p piece) error {
		p.prune(c)
		return p.restored(c)
	})
	if err != nil {
		return nil, err
	}
	if out, err = references.Run(c, out); err != nil {
		return nil, err
	}
	if err := accepted(c, pieces); err != nil {
		return nil, err
	}
	if err := opt.keep(c, out, pieces); err != nil {
		return nil, err
	}
	return &Result{Resources: out, Findings: c.Findings.Findings(), Converted: len(pieces)}, nil
}

func (o Options) context(in []*resource.Resource) *stage.Context {
	return &stage.Context{
		Facts: resource.NewFacts(in, o.Context, o.Namespace), Findings: &finding.Reporter{}, Lineage: stage.NewLineage(),
		Driver: stage.Native, Kubernetes: o.Kubernetes, Expand: func(string) bool { return false }, Stop: o.Stop,
	}
}

// accepted finds what Kruise would refuse of what was made. Unknown fields
// are left to lint: they come from the input.
func accepted(c *stage.Context, pieces []piece) error {
	return c.Each(len(pieces), func(i int) error {
		var faults resource.Errors
		for _, f := range check.Object(c, check.Request{Object: pieces[i].become}) {
			if f.Rule != check.UnknownField && (!f.OfRelease || !f.Accepted) {
				faults.Add(f.Error)
			}
		}
		return faults.Err()
	})
}

// inTurn calls f for one piece after the other, up to the first error.
func inTurn(c *stage.Context, pieces []piece, f func(piece) error) error {
	for _, p := range pieces {
		if err := c.Stopped(); err != nil {
			return err
		}
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}
