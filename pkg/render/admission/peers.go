package admission

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
)

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
	// retained are, for each annotation, CEL that tells whether a set that goes before
	// this one writes it where it is missing.
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
		if other.why == "" && meet(s, other) {
			p.add(other, passed)
			if !passed {
				p.retain(other, goes(other, all))
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

// nextTo returns the peers that may stand between the end of the list and the
// piece: those of its side that come before it in front, after it behind. Init
// containers stand by name, whatever their set (docs/kruise/sidecarset.md#merging-containers).
func (p *peers) nextTo(field string, piece inject.Piece) []string {
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

// meet reports whether two sets may go into one pod.
func meet(a, b *set) bool {
	if a.Base() == b.Name || b.Base() == a.Name || b.idle() != "" {
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
			if x.Key() == y.Key() && one(x) && one(y) && !x.Values().HasAny(y.Values().List()...) {
				return true
			}
		}
	}
	return false
}

// one reports whether the key must have one of the values.
func one(r labels.Requirement) bool {
	return r.Operator() == selection.In || r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals
}
