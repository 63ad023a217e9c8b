package fn

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// assemble returns all items of the output: what the engine made of an object
// takes the place of the object, what it never saw stays.
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
		m.passAnnotations(slots[i])
		if m != s.own {
			list = append(list, slots[i]...)
			continue
		}
		return s.place(list, s.addedObjects(slots[i]))
	}
	return s.place(list, nil)
}

// passAnnotations gives what became of m its annotations.
func (m *member) passAnnotations(made []*resource.Resource) {
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
		h.passAnnotations(m.annotations, r)
	}
}

// addedObjects is what the job adds: the object of a transformer is not among it.
func (s *stream) addedObjects(list []*resource.Resource) []*resource.Resource {
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
// same job made is replaced in its place. It refuses two objects of one
// name, of which at least one is new: no orchestrator takes that.
func (s *stream) place(list, made []*resource.Resource) ([]*resource.Resource, error) {
	at := make(map[resource.ID]int, len(list))
	var errs resource.Errors
	for i, r := range list {
		id := placeOf(r)
		other, taken := at[id]
		at[id] = i
		if taken && id.Name != "" && (!s.input(r) || !s.input(list[other])) {
			errs.Add(s.duplicateFault(r, list[other]))
		}
	}
	before := s.membersByID()
	for _, r := range made {
		if m := before[placeOf(r)]; m != nil {
			heir{same: true}.passAnnotations(m.annotations, r)
		}
		i, taken := at[placeOf(r)]
		switch {
		case !taken:
			at[placeOf(r)] = len(list)
			list = append(list, r)
		case s.input(list[i]) && isRerun(list[i], r):
			list[i] = r
		default:
			errs.Add(s.duplicateFault(r, list[i]))
		}
	}
	return list, errs.Err()
}

// membersByID returns the objects of the input by their place, for what takes it. A
// stage may have taken them out of the list.
func (s *stream) membersByID() map[resource.ID]*member {
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

// isRerun reports whether a run before this one made old, which is now r.
func isRerun(old, r *resource.Resource) bool {
	if r.Is(kruise.Group, kruise.KindResourceDistribution) {
		return true
	}
	source := r.Label(kruise.SourceLabel)
	return source != "" && old.Label(kruise.SourceLabel) == source
}

// placeOf is the ID by which orchestrators and clusters distinguish objects.
func placeOf(r *resource.Resource) resource.ID {
	id := r.ID()
	if id.Namespace == "" {
		id.Namespace = resource.DefaultNamespace
	}
	return id
}

// duplicateFault blames the new one of two objects with one name.
func (s *stream) duplicateFault(a, b *resource.Resource) error {
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

// Annotations of orchestrators (docs/facts/kustomize.md#annotations).
const (
	localConfig  = "config.kubernetes.io/local-config"
	prefix       = "internal.config.kubernetes.io/"
	legacyPath   = "config.kubernetes.io/path"
	legacyIndex  = "config.kubernetes.io/index"
	origin       = "config.kubernetes.io/origin"
	filePath     = prefix + "path"
	index        = prefix + "index"
	seqIndent    = prefix + "seqindent"
	packagePath  = prefix + "package-path"
	prefixes     = prefix + "prefixes"
	suffixes     = prefix + "suffixes"
	prevNames    = prefix + "previousNames"
	prevSpaces   = prefix + "previousNamespaces"
	prevKinds    = prefix + "previousKinds"
	transformers = "alpha.config.kubernetes.io/transformations"
)

// internal reports whether an annotation belongs to the orchestrator.
func internal(key string) bool {
	switch key {
	case legacyPath, legacyIndex, "config.k8s.io/id", origin, transformers:
		return true
	}
	return strings.HasPrefix(key, prefix) || strings.HasPrefix(key, "kustomize.config.k8s.io/")
}

// local reports whether an object is for tools only and never applied: with any value of the
// annotation but false.
func local(n *tree.Node) bool {
	v := tree.Get(n, "metadata", "annotations", localConfig)
	return v != nil && tree.Str(v) != "false"
}

// heir defines what a new object has in common with the one that it replaces.
type heir struct {
	// same: it is the old object, made again; it takes all that the old one had.
	same bool
	// first: it is the first of the new objects, and takes the place in a file.
	first bool
	// named: its name is that of the old object, with rest behind it.
	named bool
	rest  string
	// kind and was are the new object's kind and the old one's.
	kind, was string
}

// inherit returns the value of the new object's annotation key, given the old one's; ok is false
// if the new object must not have it. Kustomize finds an object by its former names, under its
// present group and its former kinds: a new object takes over the old one's history as if it had
// always been of its kind.
func (h heir) inherit(key, value string) (v string, ok bool) {
	if h.same {
		return value, true
	}
	switch key {
	case filePath, legacyPath, packagePath, seqIndent, origin, transformers, prefixes, suffixes:
		return value, true
	case index, legacyIndex:
		return value, h.first
	case prevSpaces:
		return value, h.named
	case prevNames:
		return each(value, func(name string) string { return name + h.rest }), h.named
	case prevKinds:
		return each(value, func(kind string) string {
			if kind == h.was {
				return h.kind
			}
			return kind
		}), h.named
	}
	return "", false
}

func each(list string, f func(string) string) string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = f(parts[i])
	}
	return strings.Join(parts, ",")
}

// passAnnotations gives r, which replaces an object with the annotations old, the
// annotations of orchestrators that it must have, and no others.
func (h heir) passAnnotations(old *tree.Node, r *resource.Resource) {
	if tree.Get(r.Node(), "metadata") == nil {
		return
	}
	kept := tree.Map()
	tree.Each(tree.Get(r.Node(), "metadata", "annotations"), func(k, v *tree.Node) {
		if !internal(k.Value) {
			kept.Content = append(kept.Content, k, v)
		}
	})
	tree.Each(old, func(k, v *tree.Node) {
		if !internal(k.Value) {
			return
		}
		if value, ok := h.inherit(k.Value, tree.Str(v)); ok {
			kept.Content = append(kept.Content, k, tree.String(value))
		}
	})
	// Metadata may be shared with other new objects.
	metadata := tree.Shallow(tree.Get(r.Node(), "metadata"))
	if len(kept.Content) > 0 {
		tree.Set(metadata, "annotations", kept)
	} else {
		tree.Delete(metadata, "annotations")
	}
	tree.Set(r.Edit(), "metadata", metadata)
}
