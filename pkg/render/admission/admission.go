// Package admission is the stage that makes policies of SidecarSets: a
// MutatingAdmissionPolicy with its binding does when pods are created what
// Kruise's webhook would do (docs/kruise/sidecarset.md#which-pods-match and
// docs/kruise/sidecarset.md#injection), so that pods from elsewhere get their sidecars too. What
// goes where is decided by pkg/kruise/inject, as for templates; this package only says it in CEL. A
// set that CEL cannot express stays in the stream, for injection into the templates there.
package admission

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindSidecarSet

// Run is the stage. It does nothing unless SidecarSets are to be expanded as
// policies. Sets of the context that could be policies count as such: they were
// made where the set is an input. All of them are in c.Admitted.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if c.SidecarSetAs != stage.Admission || !c.Expand(kind) {
		return in, nil
	}
	sets, err := collect(c, in)
	if err != nil || len(sets) == 0 {
		return in, err
	}
	version := policy.APIVersion(c)
	if version == "" {
		return nil, unserved(c, sets)
	}
	judge(c, sets)
	c.Admitted = map[string]*resource.Resource{}
	made := map[*resource.Resource]*set{}
	for _, s := range sets {
		if s.why == "" {
			c.Admitted[s.Name] = resource.Derived(present(s.hub), s.from)
			made[s.from] = s
		}
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		s := made[r]
		if s == nil {
			return []*resource.Resource{r}, nil
		}
		return replaced(c, s, sets, version)
	})
}

// replaced returns what a set becomes.
func replaced(c *stage.Context, s *set, sets []*set, version string) ([]*resource.Resource, error) {
	p, err := s.policy(c, sets)
	if err != nil {
		return nil, s.from.Wrap(tree.Errorf(s.hub, "", "", "every pod would be refused: %v", err), "spec")
	}
	var out []*resource.Resource
	for _, n := range p.Objects(version) {
		out = append(out, resource.Derived(n, s.from))
	}
	c.Lineage.Became(s.from.ID(), out...)
	s.report(c)
	return out, nil
}

func unserved(c *stage.Context, sets []*set) error {
	hint, how := "render for 1.36 or newer, or leave out --sidecarset-as admission", ""
	if !c.PreviewAPIs && c.Since(policy.Previewed) {
		hint, how = "--allow-preview-apis, if the API is switched on there; else "+hint, " by default"
	}
	var errs resource.Errors
	for _, s := range sets {
		if s.here {
			errs.Add(s.from.Fault("", hint, "Kubernetes 1.%d serves no MutatingAdmissionPolicy%s", c.Kubernetes, how))
		}
	}
	return errs.Err()
}

// source is the label by which the policy is found again.
func (s *set) source() string {
	if v := s.from.Label(kruise.SourceLabel); v != "" {
		return v
	}
	return kruise.SourceValue(kind, s.Name)
}
