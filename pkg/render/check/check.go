// Package check holds the rules that Kruise's webhooks enforce, offline: an
// object that Kruise would refuse is refused here, with file, line, field and
// a hint. One file per kind. It changes no object.
package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// rule checks one object; it returns all faults, joined.
type rule func(c *stage.Context, r *resource.Resource) error

// rules maps GROUP/KIND to the rule for it.
var rules = map[string]rule{}

// Run checks every object of the input that has a rule and returns all faults
// in input order.
func Run(c *stage.Context, in []*resource.Resource) error {
	return c.Each(len(in), func(i int) error {
		if f := rules[in[i].Group()+"/"+in[i].Kind()]; f != nil {
			return f(c, in[i])
		}
		return nil
	})
}

// add registers the rule for a kind. It is called once per file while the
// package is initialised.
func add(groupKind string, f rule) bool { //nolint:unparam // a result is what lets a package-level variable call it
	rules[groupKind] = f
	return true
}
