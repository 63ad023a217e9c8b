package check

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The rules by release of Kruise: what another release takes, and this one does not.
const (
	notServed    = "object/version-not-served"
	absentField  = "object/field-of-another-release"
	droppedField = "object/field-dropped-by-release"
)

var releaseRules = []Rule{
	{ID: notServed, Doc: "The release of Kruise does not serve the kind, or not in this version. Where the release is not known, a version that no release serves is a warning."},
	{ID: absentField, Doc: "The release of Kruise does not have the field, or not with this type. Where the release is not known, a field that the newest one does not have is a warning."},
	{ID: droppedField, Accepted: true, Doc: "The schema of the release takes the field and its webhook drops it without a word: nothing comes of it."},
}

// readAs has the subject looked at as the release reads it, unless that is as it is
// written.
func (s *subject) readAs() {
	if s.Operation == Delete || s.kind == nil {
		return
	}
	s.reading = s.c.Kruise.Read(s.Object.Node())
	if s.reading.Object != s.Object.Node() {
		s.r = resource.Parsed(s.reading.Object, nil, s.Object.Origin)
	}
}

// shown is a fault of the object as it was read, with the path as it is written.
func (s *subject) shown(err *resource.Error) *resource.Error {
	if s.reading.CloneSet {
		err.Field = kruise.ReadPath(err.Field)
	}
	return err
}

// written is the path, as the object is written, of a field of its kind's newest version.
func (s *subject) written(path string) string {
	path = kruise.Written(s.r.Node(), path)
	if s.reading.CloneSet {
		path = kruise.ReadPath(path)
	}
	return path
}

// released holds the object to the release: its version, and its fields. Faults that
// only other releases find are taken back.
func (s *subject) released() {
	r := s.c.Kruise.OrNewest()
	s.takeBack(r)
	s.notYet(r)
	group, version := s.Object.Group(), s.Object.Version()
	if !r.Serves(group, s.Object.Kind(), version) {
		s.notServed(r, group, version)
		return
	}
	for _, a := range r.Absent(s.Object.Node()) {
		rule, what := absentField, "refused, or dropped by an API server that is not asked to be strict"
		if a.Kept {
			rule, what = droppedField, "dropped without a word"
		}
		if !s.refused(a.Path) {
			s.another(rule, a.Kept, a.Path, hintFor(a.Span, r), "%s, and this is %s: it would be %s", a.Words(), r.Name(), what)
		}
	}
	s.noLonger(r)
	if typed, ok := s.changedType(r); ok {
		s.another(absentField, false, typed, "write a whole number", "%s takes a whole number alone here", r.Name())
	}
}

func (s *subject) notServed(r kruise.Release, group, version string) {
	in, _ := kruise.ServedIn(group, s.Object.Kind(), version)
	has := r.Versions(group, s.Object.Kind())
	if len(has) == 0 {
		s.another(notServed, false, "kind", "", "%s has no %s: it is there %s", r.Name(), s.Object.Kind(), in.Words())
		return
	}
	hint := "write " + group + "/" + has[len(has)-1] + ": kubectl kruise convert --to kruise --to-version " + has[len(has)-1] + " does it"
	if in.First == kruise.Next {
		s.another(notServed, false, "apiVersion", hint, "no release of Kruise serves %s as %s, only what comes after %s", s.Object.Kind(), version, kruise.NewestRelease)
		return
	}
	s.another(notServed, false, "apiVersion", hint, "%s does not serve %s as %s: that is there %s", r.Name(), s.Object.Kind(), version, in.Words())
}

// hintFor says which release to name where the field is meant.
func hintFor(in kruise.Span, r kruise.Release) string {
	if in.First == kruise.Next {
		return "remove it, or say --kruise-version next for a build of Kruise's main branch"
	}
	if r.Before(in.First) {
		return "remove it, or use " + in.First.Name()
	}
	return "remove it: the field went with " + in.Last.Name()
}

// another reports what the release does not take; where it is not known, other releases
// may, and it is no fault of the object.
func (s *subject) another(rule string, accepted bool, path, hint, format string, args ...any) {
	err := located(s.Object.Fault(path, hint, format, args...))
	s.faults = append(s.faults, Fault{Rule: rule, Accepted: accepted || s.c.Kruise.IsZero(), OfRelease: true, Error: err})
}

// takeBack removes faults about fields that the release has and Kruise's main branch has
// not, and marks those that other releases have.
func (s *subject) takeBack(r kruise.Release) {
	gone := map[string]kruise.Absent{}
	for _, a := range kruise.Next.Absent(s.Object.Node()) {
		gone[a.Path] = a
	}
	s.faults = slices.DeleteFunc(s.faults, func(f Fault) bool {
		a, ok := lying(gone, f.Field)
		return ok && f.Rule == unknownField && (a.Has(r) || !a.Has(kruise.Next) && s.c.Kruise != kruise.Next)
	})
}

// lying finds the field that a path is, or lies in.
func lying(fields map[string]kruise.Absent, path string) (kruise.Absent, bool) {
	for at, a := range fields {
		if under(path, at) {
			return a, true
		}
	}
	return kruise.Absent{}, false
}

// changedType returns a field that holds text where the release wants a number.
func (s *subject) changedType(r kruise.Release) (path string, ok bool) {
	for _, a := range kruise.Changed(s.Object.Node()) {
		since, change, _ := strings.Cut(a.Changes, ": ")
		first, err := kruise.ParseRelease(since)
		if err == nil && change == "type integer→-" && r.Before(first.Minor()) && a.Text {
			return a.Path, true
		}
	}
	return "", false
}

// stopping returns the faults that a render is stopped by. An object that stays Kruise's is
// stopped by what Kruise refuses; one that is expanded by all that its pods or the native
// object in its place are refused for, and not by what only another release would take.
func stopping(faults []Fault, kept bool) error {
	var errs resource.Errors
	for _, f := range faults {
		if kept && !f.Accepted || !kept && !f.OfRelease {
			errs.Add(f.Error)
		}
	}
	return errs.Err()
}
