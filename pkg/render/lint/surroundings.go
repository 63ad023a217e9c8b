package lint

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/selectors"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// surroundings is what all rules may look at beside the object. It is gathered
// once and only read afterwards.
type surroundings struct {
	c       *stage.Context
	request Request
	old     map[resource.ID]*resource.Resource
	// templates are those of all objects, checked or known.
	templates []template
	// labelled finds templates by their labels, owned the first one of each object.
	labelled *selectors.Labelled
	owned    map[resource.ID]int
	// excesses are what SidecarSets compute for pods and the API server refuses; worked
	// out when they are first asked for.
	excesses func() []sidecar.Excess
}

// template is one pod template, or a pod, with what selects it.
type template struct {
	owner     *resource.Resource
	namespace string
	labels    labels.Set
	// replicas of the owner, -1 where it has no such number.
	replicas int
}

func newSurroundings(c *stage.Context, q Request) *surroundings {
	s := &surroundings{c: c, request: q, old: map[resource.ID]*resource.Resource{}, owned: map[resource.ID]int{}}
	s.excesses = sync.OnceValue(func() []sidecar.Excess { return sidecar.Excesses(c, slices.Concat(q.Objects, q.Context)) })
	for _, r := range q.Old {
		s.old[c.Facts.IDOf(r)] = r
	}
	for _, list := range [][]*resource.Resource{q.Objects, q.Context} {
		for _, r := range list {
			s.gather(r)
		}
	}
	s.labelled = selectors.NewLabelled(len(s.templates), func(i int) map[string]string { return s.templates[i].labels })
	return s
}

func (s *surroundings) gather(r *resource.Resource) {
	found, _ := s.c.Templates(r)
	if id := s.c.Facts.IDOf(r); len(found) > 0 {
		if _, twice := s.owned[id]; !twice {
			s.owned[id] = len(s.templates)
		}
	}
	for _, t := range found {
		replicas := -1
		if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
			replicas = int(n)
		} else if scales[r.Kind()] {
			replicas = 1
		}
		s.templates = append(s.templates, template{
			owner: r, namespace: s.c.Facts.NamespaceOf(r), replicas: replicas,
			labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")),
		})
	}
}

// scales are the kinds whose replicas default to 1.
var scales = map[string]bool{kruise.KindCloneSet: true, kruise.KindDeployment: true, kruise.KindReplicaSet: true, kruise.KindStatefulSet: true, kruise.KindUnitedDeployment: true}

// selected returns the templates in a namespace (any, when it is empty) that a
// selector finds.
func (s *surroundings) selected(namespace string, selector labels.Selector) []template {
	var out []template
	for _, place := range s.labelled.Candidates(selector) {
		if t := s.templates[place]; (namespace == "" || t.namespace == namespace) && selector.Matches(t.labels) {
			out = append(out, t)
		}
	}
	return out
}
