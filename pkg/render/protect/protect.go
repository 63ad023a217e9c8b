// Package protect is the stage that keeps Kruise's deletion protection without
// Kruise: for each kind of object in the output that carries the label, a
// ValidatingAdmissionPolicy with its binding refuses the same deletions
// (docs/kruise/protection.md#deletion-protection). The label itself stays where it is.
package protect

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// expansion is the name under which deletion protection is expanded.
const expansion = "DeletionProtection"

// policiesServed is the version of Kubernetes that serves
// ValidatingAdmissionPolicy v1 (docs/facts/kubernetes.md#features-by-version).
const policiesServed = 30

// Run adds the policies behind the objects that ask for them.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(expansion) {
		return in, nil
	}
	out := slices.Clip(in)
	for _, k := range kinds {
		first := k.report(c, in)
		if first == nil && c.ProtectAll {
			first = source(in)
		}
		if first == nil || !c.Since(policiesServed) {
			continue
		}
		for _, n := range []*tree.Node{k.policy(), k.binding()} {
			made := resource.Derived(n, first)
			made.SetSubset("") // it is about all objects of the kind
			if !slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.ID() == made.ID() }) {
				out = append(out, made)
			}
		}
	}
	return out, nil
}

// source is what a policy comes from that no object asked for.
func source(in []*resource.Resource) *resource.Resource {
	if len(in) == 0 {
		return nil
	}
	return in[0]
}

// report speaks of each protected object of the kind in the output, and returns
// the first.
func (k kind) report(c *stage.Context, in []*resource.Resource) (first *resource.Resource) {
	const field = "metadata.labels[" + kruise.DeleteProtectionLabel + "]"
	for _, r := range in {
		if !r.Is(k.group, k.name) {
			continue
		}
		value := r.Label(kruise.DeleteProtectionLabel)
		if value != kruise.DeleteProtectionAlways && value != kruise.DeleteProtectionCascading {
			continue
		}
		if first == nil {
			first = r
		}
		switch {
		case !c.Since(policiesServed):
			c.Findings.Add("deletionprotection/older", r, field, "")
		case value == kruise.DeleteProtectionAlways:
			c.Findings.Add("deletionprotection/always", r, field, "")
		case k.scaled:
			c.Findings.Add("deletionprotection/cascading", r, field, "")
		case k.counted:
			c.Findings.Add("deletionprotection/cascading-counted", r, field, "")
		}
	}
	return first
}
