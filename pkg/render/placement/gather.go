package placement

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// state is one PersistentPodState on its way.
type state struct {
	c *stage.Context
	// source is the object that asks for it: a PersistentPodState, or a workload
	// with annotations. It is the place of findings and faults.
	source *resource.Resource
	// place is the object of the output after which what is made is inserted.
	place           *resource.Resource
	namespace, name string
	spec            kruise.PersistentPodStateSpec
	// target is what the target is by now, workload that object in the output, nil
	// when it is not there. split: it became several.
	target   stage.Target
	workload *resource.Resource
	split    bool
	nodes    nodes
}

// gather finds the PersistentPodStates that the output has use for: those of the
// input, those that annotations make, and those of the cluster whose workload is
// in the input.
func gather(c *stage.Context, in []*resource.Resource) ([]*state, error) {
	g := &stateCollector{c: c, seen: map[resource.ID]bool{}, nodes: readNodes(c)}
	kept := c.Facts.Context(kruise.Group, Kind)
	if len(kept) > 0 || slices.ContainsFunc(in, func(r *resource.Resource) bool { return r.Is(kruise.Group, Kind) }) {
		g.in = byID(c, in)
	}
	var faults resource.Errors
	for _, r := range in {
		if r.Is(kruise.Group, Kind) {
			faults.Add(g.object(r, r))
		}
	}
	for _, r := range in {
		if r.Kind() == kruise.KindStatefulSet && (r.Group() == "apps" || r.Group() == kruise.Group) {
			g.annotated(r)
		}
	}
	for _, r := range kept {
		faults.Add(g.object(r, nil))
	}
	return g.found, faults.Err()
}

type stateCollector struct {
	c     *stage.Context
	in    map[resource.ID]*resource.Resource
	seen  map[resource.ID]bool
	found []*state
	nodes nodes
}

// byID finds the objects, the first of several of one name.
func byID(c *stage.Context, in []*resource.Resource) map[resource.ID]*resource.Resource {
	out := make(map[resource.ID]*resource.Resource, len(in))
	for _, r := range in {
		if id := c.Facts.IDOf(r); out[id] == nil {
			out[id] = r
		}
	}
	return out
}

// first reports whether no PersistentPodState of this name has been found yet.
func (g *stateCollector) first(namespace, name string) bool {
	id := resource.ID{Group: kruise.Group, Kind: Kind, Namespace: namespace, Name: name}
	if g.seen[id] {
		return false
	}
	g.seen[id] = true
	return true
}

// object takes a PersistentPodState. place is nil for one of the cluster, which
// is where its workload is.
func (g *stateCollector) object(r, place *resource.Resource) error {
	var o kruise.PersistentPodState
	if _, err := kruise.Decode(r.Node(), &o); err != nil {
		return r.Wrap(err, "")
	}
	s := &state{c: g.c, source: r, place: place, namespace: g.c.Facts.NamespaceOf(r), name: r.Name(), spec: o.Spec, nodes: g.nodes}
	if !g.first(s.namespace, s.name) {
		return nil
	}
	s.resolve(g.in)
	if s.place == nil {
		s.place = s.workload
	}
	if s.place != nil && (place != nil || s.hasSpec()) {
		g.found = append(g.found, s)
	}
	return nil
}

// hasSpec reports whether the object has a spec that decides about the recorded state. Facts from
// another source may have the records alone.
func (s *state) hasSpec() bool {
	return s.spec.RequiredPersistentTopology != nil || len(s.spec.PreferredPersistentTopology) > 0
}

// annotated takes the PersistentPodState that a workload of the output asks for.
func (g *stateCollector) annotated(r *resource.Resource) {
	o, ok := Generated(r.Node())
	namespace := g.c.Facts.NamespaceOf(r)
	if !ok || !g.first(namespace, r.Name()) {
		return
	}
	g.found = append(g.found, &state{
		c: g.c, source: r, place: r, namespace: namespace, name: r.Name(), spec: o.Spec, nodes: g.nodes,
		target: stage.Target{APIVersion: r.APIVersion(), Kind: r.Kind(), Name: r.Name()}, workload: r,
	})
}

// resolve follows the target to what it became.
func (s *state) resolve(in map[resource.ID]*resource.Resource) {
	ref := s.spec.TargetRef
	s.target = stage.Target(ref)
	id := s.id(s.target)
	if r := s.c.Facts.Find(id); r != nil {
		id = r.ID()
	}
	if became, followed := s.c.Lineage.Resolve(id); followed {
		if s.split = len(became) != 1; s.split {
			return
		}
		s.target = became[0]
	} else if resource.GroupOf(ref.APIVersion) == kruise.Group && s.c.Expand(ref.Kind) {
		s.target.APIVersion = "apps/v1" // it is elsewhere, and is rendered there
	}
	s.workload = in[s.id(s.target)]
}

func (s *state) id(t stage.Target) resource.ID {
	return resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: s.namespace, Name: t.Name}
}
