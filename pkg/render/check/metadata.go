package check

import (
	"cmp"
	"regexp"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// metadata holds the name, labels and annotations to Kubernetes' rules, and the
// name to the kind's.
func (s *subject) metadata() {
	meta := tree.Get(s.r.Node(), "metadata")
	s.name(tree.StrAt(meta, "name"), tree.StrAt(meta, "generateName"))
	at := field.NewPath("metadata")
	s.invalid(metaInvalid, metavalidation.ValidateLabels(tree.Strings(tree.Get(meta, "labels")), at.Child("labels")))
	s.invalid(metaInvalid, apivalidation.ValidateAnnotations(tree.Strings(tree.Get(meta, "annotations")), at.Child("annotations")))
}

// invalid reports what Kubernetes' own rules found, without the values.
func (s *subject) invalid(rule string, list field.ErrorList) {
	for _, e := range ordered(list) {
		s.against(rule, e.Field, "", "%s", said(e))
	}
}

// ordered is a list that is the same each time: Kubernetes goes through maps as they come.
func ordered(list field.ErrorList) field.ErrorList {
	slices.SortStableFunc(list, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return list
}

// said is what a rule of Kubernetes has to say, without the value where that
// is no plain one.
func said(e *field.Error) string {
	if e.Detail == "" {
		return e.ErrorBody()
	}
	return e.Detail
}

var plainName = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

func (s *subject) name(name, generated string) {
	const path = "metadata.name"
	switch {
	case name == "" && generated != "":
	case name == "":
		s.against(nameInvalid, path, "", "a name is required")
	case s.kind.plainName && !plainName.MatchString(name):
		s.against(nameInvalid, path, "", "%q: the name of this kind holds letters, digits and '-' only", name)
	case s.kind.plainName && len(name) > validation.DNS1123LabelMaxLength:
		s.against(nameInvalid, path, "", "%q is longer than 63 characters", name)
	default:
		for _, msg := range validation.IsDNS1123Subdomain(name) {
			s.against(nameInvalid, path, "", "%q is not a name: %s", name, msg)
		}
	}
}
