package check

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sets are the SidecarSets of the facts by the names that they want in pods, so that each
// is held only against those that it may clash with.
type sets struct {
	*peers
	// scopes are by place; nil for a set that cannot be read, which meets none.
	scopes []*scope
	// wanting are the sets that want a name, by the keys of their selectors.
	wanting map[nameIn]map[string]*alike
}

// nameIn is the name of a container, a volume or an annotation.
type nameIn struct{ list, name string }

// scope is what a set selects; nil selects everything.
type scope struct{ pods, namespaces wants }

// setsKey is the key of what is worked out once for all sets.
type setsKey struct{}

func (s *subject) sets() *sets {
	return resource.Once(s.c.Facts, setsKey{}, func() *sets {
		p := s.peers(kruise.Group, kruise.KindSidecarSet)
		x := &sets{peers: p, scopes: make([]*scope, len(p.all)), wanting: map[nameIn]map[string]*alike{}}
		for place, o := range p.all {
			if x.scopes[place] = scopeOf(o.r.Node()); x.scopes[place] == nil {
				continue
			}
			for _, name := range namesOf(o.r.Node()) {
				x.add(name, place)
			}
		}
		return x
	})
}

func (x *sets) add(name nameIn, place int) {
	if x.wanting[name] == nil {
		x.wanting[name] = map[string]*alike{}
	}
	pods := x.scopes[place].pods
	a := x.wanting[name][group("", pods)]
	if a == nil {
		a = newAlike(pods)
		x.wanting[name][group("", pods)] = a
	}
	a.add(place, pods)
}

// scopeOf reads the selectors of a set, in whatever version; nil where that fails, which is
// reported where it stands.
func scopeOf(n *tree.Node) *scope {
	hub, _, err := kruise.ToHub(n)
	if err != nil {
		return nil
	}
	pods, errPods := wantsOf(tree.Get(hub, "spec", "selector"))
	namespaces, errNamespaces := wantsOf(tree.Get(hub, "spec", "namespaceSelector"))
	if errPods != nil || errNamespaces != nil {
		return nil
	}
	return &scope{pods, namespaces}
}

// wantsOf reads a selector; nil wants nothing.
func wantsOf(n *tree.Node) (wants, error) {
	if n == nil {
		return nil, nil
	}
	s, err := labelSelector(n)
	if err != nil {
		return nil, err
	}
	return requirements(s), nil
}

// meets reports whether a pod may match both.
func (s *scope) meets(o *scope) bool {
	return overlap(s.pods, o.pods) && overlap(s.namespaces, o.namespaces)
}

// namesOf are the names that a set wants in a pod, each once. Two sets without a common one
// do not clash.
func namesOf(set *tree.Node) (out []nameIn) {
	for _, list := range append(slices.Clip(containerLists), "volumes") {
		for _, n := range tree.Items(tree.Get(set, "spec", list)) {
			if name := (nameIn{list, tree.StrAt(n, "name")}); name.name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for key := range overwritten(set) {
		out = append(out, nameIn{"annotations", key})
	}
	return out
}

// rivals are the sets that exist beside this one, that a pod may match together with it
// and that want one of its names, in the order in which they come to be.
func (k *setCheck) rivals() (out []*resource.Resource) {
	own := scopeOf(k.hub)
	if own == nil {
		return nil
	}
	x, id := k.sets(), k.c.Facts.IDOf(k.r)
	var places []int
	for _, name := range namesOf(k.hub) {
		for _, a := range x.wanting[name] {
			places = append(places, a.near(own.pods)...)
		}
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		if o := x.all[place]; o.id.Namespace == id.Namespace && x.beside(place, k.Object, id) && own.meets(x.scopes[place]) {
			out = append(out, o.r)
		}
	}
	return out
}
