package fn

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// assemble returns all items of the output: what the engine made of an object
// stands where the object stood, what it never saw stays.
func (s *stream) assemble(out []*resource.Resource) ([]*resource.Resource, error) {
	slots := make([][]*resource.Resource, len(s.all))
	for _, r := range out {
		slots[r.Origin.Seq] = append(slots[r.Origin.Seq], r)
	}
	seen := map[*resource.Resource]bool{}
	for _, r := range s.in {
		seen[r] = true
	}
	var list []*resource.Resource
	for i, m := range s.all {
		if !seen[m.r] {
			slots[i] = []*resource.Resource{m.r}
		}
		m.pass(slots[i])
		if m != s.own {
			list = append(list, slots[i]...)
			continue
		}
		return s.place(list, s.made(slots[i]))
	}
	return s.place(list, nil)
}

// pass gives what became of m its annotations.
func (m *member) pass(made []*resource.Resource) {
	taken := false
	for _, r := range made {
		taken = taken || r.ID() == m.id
	}
	for i, r := range made {
		if r == m.r {
			continue
		}
		rest, named := strings.CutPrefix(r.Name(), m.id.Name)
		h := heir{first: i == 0 && !taken, named: named && m.id.Name != "", rest: rest, kind: r.Kind(), was: m.id.Kind}
		h.same = r.ID() == m.id
		h.pass(m.annotations, r)
	}
}

// made is what the job adds: the object of a transformer is not among it.
func (s *stream) made(list []*resource.Resource) []*resource.Resource {
	if s.job.generator {
		return list
	}
	var out []*resource.Resource
	for _, r := range list {
		if r != s.own.r {
			out = append(out, r)
		}
	}
	return out
}

// place adds what the job made behind the items; what an earlier run of the
// same job made is replaced where it stands. It refuses two objects of one
// name, of which at least one is new: no orchestrator takes that.
func (s *stream) place(list, made []*resource.Resource) ([]*resource.Resource, error) {
	at := make(map[resource.ID]int, len(list))
	var errs resource.Errors
	for i, r := range list {
		id := placeOf(r)
		other, taken := at[id]
		at[id] = i
		if taken && id.Name != "" && (!s.input(r) || !s.input(list[other])) {
			errs.Add(s.twice(r, list[other]))
		}
	}
	before := s.before()
	for _, r := range made {
		if m := before[placeOf(r)]; m != nil {
			heir{same: true}.pass(m.annotations, r)
		}
		i, taken := at[placeOf(r)]
		switch {
		case !taken:
			at[placeOf(r)] = len(list)
			list = append(list, r)
		case s.input(list[i]) && again(list[i], r):
			list[i] = r
		default:
			errs.Add(s.twice(r, list[i]))
		}
	}
	return list, errs.Err()
}

// before returns the objects of the input by their place, for what takes it. A
// stage may have taken them out of the list.
func (s *stream) before() map[resource.ID]*member {
	all := make(map[resource.ID]*member, len(s.all))
	for _, m := range s.all {
		if m != s.own {
			all[placeOf(m.r)] = m
		}
	}
	return all
}

// input reports whether r is an object of the input, edited or not.
func (s *stream) input(r *resource.Resource) bool {
	return s.all[r.Origin.Seq].r == r && s.all[r.Origin.Seq] != s.own
}

// again reports whether a run before this one made old, which is now r.
func again(old, r *resource.Resource) bool {
	if r.Is(kruise.Group, kruise.KindResourceDistribution) {
		return true
	}
	source := r.Label(kruise.SourceLabel)
	return source != "" && old.Label(kruise.SourceLabel) == source
}

// placeOf is the ID by which orchestrators and clusters tell objects apart.
func placeOf(r *resource.Resource) resource.ID {
	id := r.ID()
	if id.Namespace == "" {
		id.Namespace = resource.DefaultNamespace
	}
	return id
}

// twice blames the new one of two objects with one name.
func (s *stream) twice(a, b *resource.Resource) error {
	if s.input(a) {
		a, b = b, a
	}
	from := s.all[a.Origin.Seq]
	other := "the input holds already"
	if !s.input(b) {
		other = "something else becomes, too"
	}
	return resource.Parsed(from.r.Node(), nil, from.r.Origin).Fault("metadata.name", "rename one of the two",
		"%s becomes %s, which %s", from.id, a.ID(), other)
}
