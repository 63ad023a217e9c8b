package admission

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// set is a SidecarSet of the input or of the context.
type set struct {
	*inject.Set
	from *resource.Resource
	hub  *tree.Node
	// here is set for one of the input; a policy is written for those only.
	here bool
	// inits and containers are what it puts into pods.
	inits, containers []inject.Piece
	// why says what keeps it from being a policy, and whyField in which field; ""
	// when nothing does.
	why, whyField string
}

func (s *set) name() string { return s.Name }

// collect compiles the sets of the input and of the context, in the order of
// injection. Stored revisions are left aside: nobody stores one without Kruise.
func collect(c *stage.Context, in []*resource.Resource) ([]*set, error) {
	var sets []*set
	var errs resource.Errors
	known := map[string]bool{}
	add := func(here bool, list ...*resource.Resource) {
		for _, r := range list {
			if !r.Is(kruise.Group, kind) || known[r.Name()] {
				continue
			}
			known[r.Name()] = true
			s, err := compile(r)
			errs.Add(err)
			if err == nil {
				s.here = here
				sets = append(sets, s)
			}
		}
	}
	add(true, in...)
	if len(sets) > 0 {
		add(false, c.Facts.Context(kruise.Group, kind)...)
	}
	return inOrder(sets), errs.Err()
}

func compile(r *resource.Resource) (*set, error) {
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	compiled, err := inject.Compile(hub, nil)
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	s := &set{Set: compiled, from: r, hub: hub}
	s.inits, s.containers = compiled.Current().Pieces()
	return s, nil
}

func inOrder(sets []*set) []*set {
	order := make([]*inject.Set, len(sets))
	by := map[*inject.Set]*set{}
	for i, s := range sets {
		order[i], by[s.Set] = s.Set, s
	}
	inject.Order(order)
	out := make([]*set, len(sets))
	for i, s := range order {
		out[i] = by[s]
	}
	return out
}

// choose finds the sets that can be no policy. A canary and its base go the same
// way: whoever injects the one must know of the other.
func choose(c *stage.Context, sets []*set) {
	for _, s := range sets {
		s.whyField, s.why = s.obstacle(c)
	}
	for range sets {
		for _, s := range sets {
			for _, other := range sets {
				if s.why == "" && other.why != "" && (s.Base() == other.Name || other.Base() == s.Name) {
					s.whyField, s.why = "metadata.annotations", "it is the canary, or the base, of SidecarSet "+other.Name+", which cannot"
				}
			}
		}
	}
	for _, s := range sets {
		if s.here && s.why != "" {
			c.Findings.Add("sidecarset/admission-injected", s.from, s.whyField, s.why)
		}
	}
}

// lists is the version of Kubernetes from which new policies may use CEL's list
// library: they keep to what the version before knows.
const lists = 35

// obstacle returns what CEL cannot do for the set.
func (s *set) obstacle(c *stage.Context) (field, why string) {
	content := s.Current()
	if content.HasResourcesPolicy() {
		return "spec.containers", "resourcesPolicy calculates with quantities"
	}
	for _, p := range content.AnnotationPatches() {
		if p.Policy == kruise.SidecarSetMergePatchJSONPatchPolicy {
			return "spec.patchPodMetadata", "MergePatchJson reads and writes JSON"
		}
	}
	copies := func(p inject.Piece) bool { return p.Copies != nil }
	if !c.Since(lists) && slices.ContainsFunc(slices.Concat(s.inits, s.containers), copies) {
		return "spec.containers", "transferEnv and shared volumes need the list functions of Kubernetes 1.35"
	}
	return "", ""
}
