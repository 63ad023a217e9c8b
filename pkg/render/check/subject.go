package check

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// subject is the object of one request with what is held against it. The
// checks of the kinds embed it.
type subject struct {
	Request
	c *stage.Context
	// r is the object as the release reads it.
	r       *resource.Resource
	reading kruise.Reading
	// kind is nil for an object that is none of Kruise's.
	kind   *kindRules
	faults []Fault
}

func newSubject(c *stage.Context, q Request) *subject {
	if q.Operation == "" {
		q.Operation = Create
		if q.Old != nil {
			q.Operation = Update
		}
	}
	if q.Operation != Update {
		q.Old = nil
	}
	s := &subject{Request: q, c: c, r: q.Object, kind: kinds[q.Object.Group()+"/"+q.Object.Kind()]}
	s.readAs()
	return s
}

// fault reports a fault of the field with this path in the newest version.
func (s *subject) fault(path, hint, format string, args ...any) {
	s.against(s.kind.rule(path), path, hint, format, args...)
}

// against reports a fault under the rule that is named.
func (s *subject) against(rule, path, hint, format string, args ...any) {
	err := s.Object.Fault(s.written(path), hint, format, args...)
	s.faults = append(s.faults, Fault{Rule: rule, Error: located(err)})
}

// accepted marks the faults that a check finds as [Fault.Accepted].
func (s *subject) accepted(check func()) {
	before := len(s.faults)
	check()
	for i := before; i < len(s.faults); i++ {
		s.faults[i].Accepted = true
	}
}

// tooMany reports more subsets than are rendered: all that looks at subsets comes after.
func (s *subject) tooMany(path string, subsets int) bool {
	most := s.c.Limits.OrDefault().Subsets
	if subsets <= most {
		return false
	}
	s.fault(path, "split it into several, or raise the limit of subsets", "%d subsets are more than the %d that are rendered", subsets, most)
	return true
}

// frozen reports that an update changes what stays.
func (s *subject) frozen(path, hint, format string, args ...any) {
	s.against(immutable, path, hint, format, args...)
}

// addAll keeps the faults that a leaf found below the field, each with its
// place; paths in them are relative to it.
func (s *subject) addAll(err error, below string) {
	var list resource.Errors
	list.Add(err)
	for _, e := range list {
		placed := located(s.r.Wrap(e, below))
		s.faults = append(s.faults, Fault{Rule: s.kind.rule(placed.Field), Error: placed})
	}
}

// read decodes the object into its type, and reports unknown fields and bad
// metadata. It returns false when the object cannot be read, which is reported.
func (s *subject) read(into any) bool {
	unknown, err := kruise.Decode(s.r.Node(), into)
	if err != nil {
		s.faults = append(s.faults, Fault{Rule: wrongType, Error: s.shown(located(s.r.Wrap(err, "")))})
		return false
	}
	for _, path := range unknown { // in the version that the object is written in
		if !s.isOpen(path) {
			s.faults = append(s.faults, Fault{Rule: unknownField, Error: s.shown(located(s.r.Fault(path, s.spelling(path), "unknown field")))})
		}
	}
	s.metadata()
	return true
}

// spelling hints at what an unknown field was meant to be.
func (s *subject) spelling(path string) string {
	if s.kind.misplaced != nil {
		if hint := s.kind.misplaced(s.r.Version(), path); hint != "" {
			return hint
		}
	}
	return spelling(s.kind.object, path)
}

// isOpen reports a path below which the schema takes what comes.
func (s *subject) isOpen(path string) bool {
	plain := indices(path)
	return strings.HasPrefix(plain, "status.") ||
		slices.ContainsFunc(s.kind.open, func(prefix string) bool { return under(plain, prefix) && plain != prefix })
}

// before decodes what the update replaces into its type, with the defaults that
// it was stored with, so that they are no change; false when there is none, or
// when it cannot be read: it is the cluster's object, not the user's to repair.
func (s *subject) before(into any) bool {
	if s.Old == nil {
		return false
	}
	if _, err := kruise.Decode(s.Old.Node(), into); err != nil {
		return false
	}
	kruise.DefaultStored(into)
	return true
}

// find returns the object of this name that exists in the object's namespace,
// nil when it is not known.
func (s *subject) find(group, kind, name string) *resource.Resource {
	return s.c.Facts.Find(resource.ID{Group: group, Kind: kind, Namespace: s.c.Facts.NamespaceOf(s.r), Name: name})
}

// newest returns the object in its newest version; nil when there is none.
func newest(r *resource.Resource) *tree.Node {
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil
	}
	return hub
}
