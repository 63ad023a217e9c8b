package check

import "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"

// peers are the objects of one kind, in the order in which they come to exist: the
// input's, then those of the context that the input does not replace.
type peers struct {
	all []peer
	// stream is how many of them are the input's, at their places.
	stream int
	at     map[*resource.Resource]int
}

type peer struct {
	r  *resource.Resource
	id resource.ID
}

type peersOf struct{ group, kind string }

// peers are worked out once for all objects that ask for them.
func (s *subject) peers(group, kind string) *peers {
	f := s.c.Facts
	return resource.Once(f, peersOf{group, kind}, func() *peers {
		p := &peers{at: map[*resource.Resource]int{}}
		input := map[resource.ID]bool{}
		for _, r := range f.Stream(group, kind) {
			if _, twice := p.at[r]; !twice {
				p.at[r] = len(p.all)
			}
			input[f.IDOf(r)] = true
			p.add(r, f.IDOf(r))
		}
		p.stream = len(p.all)
		for _, r := range f.Context(group, kind) {
			if id := f.IDOf(r); !input[id] {
				p.add(r, id)
			}
		}
		return p
	})
}

func (p *peers) add(r *resource.Resource, id resource.ID) {
	p.all = append(p.all, peer{r, id})
}

// beside reports whether the object at a place exists when r, which goes by id, comes
// to be: of the input, what stands before it.
func (p *peers) beside(place int, r *resource.Resource, id resource.ID) bool {
	own, ours := p.at[r]
	return p.all[place].id != id && (place >= p.stream || !ours || place < own)
}
