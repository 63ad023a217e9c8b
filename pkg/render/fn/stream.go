package fn

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// stream is the items on their way through the engine.
type stream struct {
	items []*tree.Node
	// all are the items as resources, one each, and behind them the job's own
	// object; an object's Seq is its index here.
	all []*member
	// in are those that the engine renders, context those that it only knows.
	in, context []*resource.Resource
	own         *member
	job         *job
}

// member is an object as it was before the engine saw it.
type member struct {
	r           *resource.Resource
	id          resource.ID
	annotations *tree.Node
}

func newStream(j *job, items []*tree.Node) *stream {
	s := &stream{items: items, job: j}
	for _, item := range items {
		s.admit(s.join(item, file(item)).r)
	}
	if j.own != nil {
		s.own = s.join(j.own, functionConfig)
		s.in = append(s.in, s.own.r)
	}
	return s
}

func (s *stream) join(n *tree.Node, file string) *member {
	r := resource.Parsed(n, nil, resource.Origin{File: file, Seq: len(s.all)})
	m := &member{r: r, id: r.ID(), annotations: tree.Shallow(tree.Get(n, "metadata", "annotations"))}
	s.all = append(s.all, m)
	return m
}

// file is where an item stands, as far as the orchestrator says so.
func file(item *tree.Node) string {
	annotations := tree.Get(item, "metadata", "annotations")
	if p := tree.StrAt(annotations, path); p != "" {
		return p
	}
	return tree.StrAt(annotations, legacyPath)
}

// admit hands an item to the engine, unless it is none of its business: such
// items pass through untouched. What is local exists but is not applied, which
// makes it a fact.
func (s *stream) admit(r *resource.Resource) {
	switch sound := load.Check(r) == nil; {
	case !sound && r.Group() != kruise.Group && r.Group() != kruise.PolicyGroup:
	case local(r.Node()):
		if sound && !s.job.describes(r) && !s.job.spares(r) {
			s.context = append(s.context, r)
		}
	case render.Own(r):
	case s.job.generator && !r.Is("", "Namespace"):
	case s.job.spares(r):
	default:
		s.in = append(s.in, r)
	}
}

// spares reports whether r is of the kind of the job's own object, but not that
// object: a SidecarSet as function config injects itself, not the others.
func (j *job) spares(r *resource.Resource) bool {
	return j.only != "" && r.Is(kruise.Group, j.only)
}

// describes reports whether r is the function config itself: kpt hands config
// files over as items, and kustomize does so with generators.
func (j *job) describes(r *resource.Resource) bool {
	return j.own != nil && r.Kind() == tree.StrAt(j.own, "kind") && r.Name() == tree.StrAt(j.own, "metadata", "name")
}
