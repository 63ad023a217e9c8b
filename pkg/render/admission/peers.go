package admission

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"

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
}

func peersOf(s *set, sets []*set) peers {
	var p peers
	passed := false
	for _, other := range sets {
		if other == s {
			passed = true
			continue
		}
		if other.why == "" {
			p.add(other, passed)
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

// nextTo returns the peers that may stand between the end of the list and the
// piece: those of its side that come before it in front, after it behind. Init
// containers stand by name, whatever their set (semantics sidecarset 2.3).
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
