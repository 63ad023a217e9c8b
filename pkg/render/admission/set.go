package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

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
	// why is why it cannot be a policy, and field the field; "" if it can.
	why, field string
}

// collect compiles the sets of the input and of the context, in the order of
// injection. Stored revisions are left aside: without Kruise none is stored.
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
	compiled, err := inject.Compile(present(hub), nil)
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	s := &set{Set: compiled, from: r, hub: hub}
	s.inits, s.containers = compiled.Current().Pieces()
	return s, nil
}

// present returns a set without the revision that it asks for.
func present(hub *tree.Node) *tree.Node {
	if tree.Get(hub, "spec", "injectionStrategy", "revision") == nil {
		return hub
	}
	hub = tree.Clone(hub)
	tree.DeleteAt(hub, "spec", "injectionStrategy", "revision")
	return hub
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

// markImpossible finds the sets that can be no policy.
func markImpossible(c *stage.Context, sets []*set) {
	for _, s := range sets {
		s.field, s.why = s.unsupportedField(c)
		if s.why == "" {
			s.field, s.why = s.ambiguousAnnotation(sets)
		}
		if s.here && s.why != "" {
			c.Findings.Add("sidecarset/admission-injected", s.from, s.field, "no policy can express the set ("+s.why+
				"): it is injected into the pod templates of the input, and pods from elsewhere get nothing")
		}
	}
}

// lists is the version of Kubernetes from which new policies may use CEL's list
// library: they keep to what the version before knows.
const lists = 35

// unsupportedField returns what CEL cannot do for the set.
func (s *set) unsupportedField(c *stage.Context) (field, why string) {
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
	if !c.Since(lists) && slices.ContainsFunc(s.pieces(), copies) {
		return "spec.containers", "transferEnv and shared volumes need the list functions of Kubernetes 1.35"
	}
	return "", ""
}

// ambiguousAnnotation returns the annotation that names a container to copy from and that
// another set writes, perhaps later.
func (s *set) ambiguousAnnotation(sets []*set) (field, why string) {
	for _, piece := range s.pieces() {
		if piece.Copies == nil {
			continue
		}
		for _, e := range piece.Copies.Env {
			for _, other := range sets {
				if e.List == "annotations" && other != s && other.writes(e.Key) {
					return "spec.containers", "transferEnv reads annotation " + e.Key + ", which SidecarSet " + other.Name + " may write later"
				}
			}
		}
	}
	return "", ""
}

func (s *set) pieces() []inject.Piece { return slices.Concat(s.inits, s.containers) }

func (s *set) writes(key string) bool {
	return slices.ContainsFunc(s.Current().AnnotationPatches(), func(p inject.AnnotationPatch) bool { return p.Key == key })
}

// peers are the containers of the other sets that policies inject. They may be in
// a pod before this set's policy is called, or come after it.
type peers struct {
	// before are the containers in front of the pod's own from sets that go before
	// this one, after those behind the pod's own from sets that go after it.
	before, after []string
	// front and back are the init containers on both sides.
	front, back []string
	// all are the names of all containers.
	all []string
	// retained are, for each annotation, CEL expressions for whether a set before this one writes
	// it if it is missing.
	retained map[string][]string
}

func peersOf(s *set, all []*set) peers {
	p := peers{retained: map[string][]string{}}
	passed := false
	for _, other := range all {
		if other == s {
			passed = true
			continue
		}
		if other.why == "" && canShareAPod(s, other) {
			p.add(other, passed)
			if !passed {
				p.retain(other, injectedExpression(other, all))
			}
		}
	}
	return p
}

func (p *peers) add(other *set, later bool) {
	for _, c := range other.containers {
		p.all = append(p.all, c.Name)
		switch {
		case c.Front && !later:
			p.before = append(p.before, c.Name)
		case !c.Front && later:
			p.after = append(p.after, c.Name)
		}
	}
	for _, c := range other.inits {
		if c.Front {
			p.front = append(p.front, c.Name)
		} else {
			p.back = append(p.back, c.Name)
		}
	}
}

func (p *peers) retain(other *set, goes string) {
	for _, a := range other.Current().AnnotationPatches() {
		if a.Policy == kruise.SidecarSetRetainPatchPolicy {
			p.retained[a.Key] = append(p.retained[a.Key], goes)
		}
	}
}

// neighbours returns the peers that may be between the end of the list and the piece: in front
// those of its side that come before it, behind those that come after it. Init containers are
// sorted by name, regardless of their set (docs/kruise/sidecarset.md#merging-containers).
func (p *peers) neighbours(field string, piece inject.Piece) []string {
	if field == "containers" {
		if piece.Front {
			return p.before
		}
		return p.after
	}
	var out []string
	if piece.Front {
		for _, name := range p.front {
			if name < piece.Name {
				out = append(out, name)
			}
		}
		return out
	}
	for _, name := range p.back {
		if name > piece.Name {
			out = append(out, name)
		}
	}
	return out
}

// canShareAPod reports whether two sets may go into one pod.
func canShareAPod(a, b *set) bool {
	if a.Base() == b.Name || b.Base() == a.Name || b.whyNeverInjected() != "" {
		return false
	}
	podsA, namespacesA := a.Selectors()
	podsB, namespacesB := b.Selectors()
	return !disjoint(podsA, podsB) && (namespacesA == nil || namespacesB == nil || !disjoint(namespacesA, namespacesB))
}

// disjoint reports whether two selectors certainly match no labels both: they want
// different values of one key.
func disjoint(a, b labels.Selector) bool {
	as, _ := a.Requirements()
	bs, _ := b.Requirements()
	for _, x := range as {
		for _, y := range bs {
			if x.Key() == y.Key() && isValueRequirement(x) && isValueRequirement(y) && !x.Values().HasAny(y.Values().List()...) {
				return true
			}
		}
	}
	return false
}

// isValueRequirement reports whether the key must have one of the values.
func isValueRequirement(r labels.Requirement) bool {
	return r.Operator() == selection.In || r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals
}
