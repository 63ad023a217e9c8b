package check

import (
	"cmp"
	"regexp"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// subject is the object of one request, with the faults that were found so far. The checks
// of the kinds embed it.
type subject struct {
	Request
	c *stage.Context
	// r is the object as the release reads it.
	r       *resource.Resource
	reading kruise.Reading
	// kind is nil for an object of another API.
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
	if q.Operation != Delete && s.kind != nil {
		s.reading = c.Kruise.Read(q.Object.Node())
		if s.reading.Object != q.Object.Node() {
			s.r = resource.Parsed(s.reading.Object, nil, q.Object.Origin)
		}
	}
	return s
}

// fault reports a fault of the field with this path in the newest version.
func (s *subject) fault(path, hint, format string, args ...any) {
	s.faultUnder(s.kind.rule(path), path, hint, format, args...)
}

// faultUnder reports a fault of the field under the given rule.
func (s *subject) faultUnder(rule, path, hint, format string, args ...any) {
	err := s.Object.Fault(s.writtenPath(path), hint, format, args...)
	s.faults = append(s.faults, Fault{Rule: rule, Error: resourceError(err)})
}

// accepted marks the faults that a check finds as [Fault.Accepted].
func (s *subject) accepted(check func()) {
	before := len(s.faults)
	check()
	for i := before; i < len(s.faults); i++ {
		s.faults[i].Accepted = true
	}
}

// tooManySubsets reports more subsets than the limit. Callers then skip the other rules for
// subsets.
func (s *subject) tooManySubsets(path string, subsets int) bool {
	most := s.c.Limits.OrDefault().Subsets
	if subsets <= most {
		return false
	}
	s.fault(path, "split it into several, or raise the limit of subsets", "%s are more than the %d that are rendered", counted.Of(subsets, "subset"), most)
	return true
}

// immutableFault reports that an update changes an immutable field.
func (s *subject) immutableFault(path, hint, format string, args ...any) {
	s.faultUnder(immutable, path, hint, format, args...)
}

// addErrors adds the errors that another package found below the field. Their paths are
// relative to it.
func (s *subject) addErrors(err error, below string) {
	var list resource.Errors
	list.Add(err)
	for _, e := range list {
		placed := resourceError(s.r.Wrap(e, below))
		s.faults = append(s.faults, Fault{Rule: s.kind.rule(placed.Field), Error: placed})
	}
}

// decodeOld decodes the object before the update, with the defaults of the stored object, so
// that defaults are no change. It returns false if there is none, or if it cannot be decoded:
// the user cannot repair the object in the cluster.
func (s *subject) decodeOld(into any) bool {
	if s.Old == nil {
		return false
	}
	if _, err := kruise.Decode(s.Old.Node(), into); err != nil {
		return false
	}
	kruise.DefaultStored(into)
	return true
}

// findInNamespace returns the object of this name that exists in the object's namespace,
// nil when it is not known.
func (s *subject) findInNamespace(group, kind, name string) *resource.Resource {
	return s.c.Facts.Find(resource.ID{Group: group, Kind: kind, Namespace: s.c.Facts.NamespaceOf(s.r), Name: name})
}

const metaName = "metadata.name"

// metadata checks the metadata by Kubernetes' rules, and the name by the rules of the kind.
func (s *subject) metadata(meta metav1.ObjectMeta) {
	if k, _ := kruise.Lookup(s.kind.group, s.kind.kind); k.ClusterScoped {
		meta.Namespace = "" // an API server ignores it
	}
	if s.kind.plainName && !s.plainName(meta.Name) || meta.Name == "" && meta.GenerateName != "" {
		meta.Name = "generated"
	}
	list := apivalidation.ValidateObjectMeta(&meta, meta.Namespace != "", apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	for _, e := range sortedErrors(list) {
		switch {
		case e.Field != metaName:
			s.faultUnder(metaInvalid, e.Field, "", "%s", wordsOf(e))
		case meta.Name == "":
			s.faultUnder(nameInvalid, metaName, "", "a name is required")
		default:
			s.faultUnder(nameInvalid, metaName, "", "%q is not a name: %s", meta.Name, withoutExpression(e.Detail))
		}
	}
}

var plainName = regexp.MustCompile(`^[a-zA-Z0-9-]*$`)

// plainName wants the name of a kind whose names are plain to be one.
func (s *subject) plainName(name string) bool {
	switch {
	case !plainName.MatchString(name):
		s.faultUnder(nameInvalid, metaName, "", "%q: the name of this kind holds letters, digits and '-' only", name)
		return false
	case len(name) > validation.DNS1123LabelMaxLength:
		s.faultUnder(nameInvalid, metaName, "", "%q is longer than 63 characters", name)
		return false
	}
	return true
}

// sortedErrors sorts the errors: Kubernetes iterates over maps, so their order is random.
func sortedErrors(list field.ErrorList) field.ErrorList {
	slices.SortStableFunc(list, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return list
}
