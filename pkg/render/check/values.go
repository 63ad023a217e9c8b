package check

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// notNegative wants a number, if there is one, to be 0 or more.
func notNegative[T ~int32 | ~int64](s *subject, path string, n *T) {
	if n != nil && *n < 0 {
		s.fault(path, "", "%d must not be negative", *n)
	}
}

// numberOrPercent wants a number that is not negative, or a whole percentage, if there is a
// value. It returns whether the value is valid.
func numberOrPercent(s *subject, path string, v *intstr.IntOrString) bool {
	switch {
	case v == nil:
	case v.Type == intstr.String && len(validation.IsValidPercent(v.StrVal)) > 0:
		s.fault(path, "", "%q is neither a number nor a percentage", v.StrVal)
		return false
	case v.Type == intstr.Int && v.IntVal < 0:
		s.fault(path, "", "%d must not be negative", v.IntVal)
		return false
	}
	return true
}

// numberOrPartOfWhole is numberOrPercent with percentages up to 100%.
func numberOrPartOfWhole(s *subject, path string, v *intstr.IntOrString) bool {
	if !numberOrPercent(s, path, v) {
		return false
	}
	if p, ok := percent(v); ok && p > 100 {
		s.fault(path, "", "%s is more than 100%%", v.StrVal)
		return false
	}
	return true
}

// percent returns the number before the sign of a percentage; ok is false for
// anything else.
func percent(v *intstr.IntOrString) (p int, ok bool) {
	if v == nil || v.Type != intstr.String {
		return 0, false
	}
	p, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%")) // the greatest one, where none is so great
	return p, (err == nil || errors.Is(err, strconv.ErrRange)) && strings.HasSuffix(v.StrVal, "%")
}

// isZero reports a value that is missing, 0 or 0%.
func isZero(v *intstr.IntOrString) bool {
	if v == nil {
		return true
	}
	if p, ok := percent(v); ok {
		return p == 0
	}
	return v.Type == intstr.Int && v.IntVal == 0
}

// oneOf wants text, if there is any, to be one of the values.
func oneOf[T ~string](s *subject, path string, v T, allowed ...T) bool {
	return v == "" || exactlyOneOf(s, path, v, allowed...)
}

// exactlyOneOf wants text to be one of the values, also if it is empty.
func exactlyOneOf[T ~string](s *subject, path string, v T, allowed ...T) bool {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if a == v {
			return true
		}
		names[i] = string(a)
	}
	s.fault(path, "", "%q is not allowed: want %s", v, choiceText(names))
	return false
}

// choiceText lists the names as a choice.
func choiceText(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// requiredSelector wants a selector that is not empty and valid. It returns nil if it has
// reported a fault.
func requiredSelector(s *subject, path string, sel *metav1.LabelSelector, hint string) labels.Selector {
	switch {
	case sel == nil:
		s.fault(path, hint, "a selector is required")
		return nil
	case len(sel.MatchLabels)+len(sel.MatchExpressions) == 0:
		s.fault(path, hint, "an empty selector is not allowed")
		return nil
	}
	return validSelector(s, path, sel)
}

// validSelector wants a selector, if there is one, to be valid. It returns nil if it has reported a
// fault.
func validSelector(s *subject, path string, sel *metav1.LabelSelector) labels.Selector {
	list := metavalidation.ValidateLabelSelector(sel, metavalidation.LabelSelectorValidationOptions{}, field.NewPath(path))
	s.podErrors(s.fault, list)
	if len(list) > 0 {
		return nil
	}
	chosen, _ := metav1.LabelSelectorAsSelector(sel) // it is valid
	return chosen
}

// selectorOfTemplate wants the selector of a workload to match the labels of its template.
func selectorOfTemplate(s *subject, sel *metav1.LabelSelector, pods map[string]string) {
	chosen := requiredSelector(s, "spec.selector", sel, "name the labels of the pods")
	if chosen != nil && !chosen.Matches(labels.Set(pods)) {
		s.fault("spec.template.metadata.labels", "give the template the labels of spec.selector", "the selector does not match the labels of the template")
	}
}

func labelSelector(n *tree.Node) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	_, err := tree.Decode(n, s)
	return s, err
}

// imageless returns the pod spec without the images of its containers.
func imageless(spec corev1.PodSpec) *corev1.PodSpec {
	out := spec.DeepCopy()
	for i := range out.Containers {
		out.Containers[i].Image = ""
	}
	return out
}

// onlyImagesChange refuses changes of the pods that are impossible in place. An old object
// without containers is from an inventory, which has no templates, and is not compared. Both specs
// have their defaults.
func onlyImagesChange(s *subject, old, now corev1.PodSpec) {
	if len(old.Containers) > 0 && !apiequality.Semantic.DeepEqual(imageless(old), imageless(now)) {
		s.fault("spec.template.spec", "use InPlaceIfPossible, or change only images and metadata", "InPlaceOnly allows only changes of images and metadata")
	}
}

// immutableFields refuses a change of any of the fields.
func immutableFields(s *subject, fields ...fieldChange) {
	for _, f := range fields {
		if !apiequality.Semantic.DeepEqual(f.old, f.now) {
			s.immutableFault(f.path, fmt.Sprintf("delete and create the %s, or keep it as it is in the cluster", s.kind.kind),
				"this field of an existing %s is immutable", s.kind.kind)
		}
	}
}

// fieldChange is the value of a field before and after an update.
type fieldChange struct {
	path     string
	old, now any
}

// updatePriority wants one kind of priority with complete terms.
func updatePriority(s *subject, path string, p *kruise.UpdatePriorityStrategy) {
	if p == nil {
		return
	}
	if len(p.OrderPriority) > 0 && len(p.WeightPriority) > 0 {
		s.fault(path, "keep one of them", "orderPriority and weightPriority may not both be set")
	}
	for i, term := range p.OrderPriority {
		if term.OrderedKey == "" {
			s.fault(fmt.Sprintf("%s.orderPriority[%d].orderedKey", path, i), "", "a key is required")
		}
	}
	for i, term := range p.WeightPriority {
		at := fmt.Sprintf("%s.weightPriority[%d]", path, i)
		if term.Weight < 0 || term.Weight > 100 {
			s.fault(at+".weight", "", "%d is not a weight from 0 to 100", term.Weight)
		}
		if len(term.MatchSelector.MatchLabels)+len(term.MatchSelector.MatchExpressions) == 0 {
			s.fault(at+".matchSelector", "name the labels of the pods", "a selector is required")
			continue
		}
		validSelector(s, at+".matchSelector", &term.MatchSelector)
	}
}

// scatterTerms wants each label once (docs/kruise/sidecarset.md#what-is-refused).
func scatterTerms(s *subject, path string, terms []kruise.UpdateScatterTerm) {
	seen := map[kruise.UpdateScatterTerm]bool{}
	for i, term := range terms {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case term.Key == "":
			s.fault(at+".key", "", "a key is required")
		case seen[term]:
			s.fault(at, "", "%s=%s is listed twice", term.Key, term.Value)
		}
		seen[term] = true
	}
}

// claimTemplates wants each template to have a unique name, by which containers mount it. The
// webhook of Advanced StatefulSets does not look at the names that there are.
func claimTemplates(s *subject, list []corev1.PersistentVolumeClaim) {
	seen := map[string]bool{}
	for i, c := range list {
		path := fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", i)
		switch {
		case c.Name == "":
			s.fault(path, "", "a claim template needs a name")
		case seen[c.Name] && s.kind.kind == kruise.KindStatefulSet:
			s.accepted(func() { s.fault(path, "", "claim template %s is listed twice: one of them is not used", c.Name) })
		case seen[c.Name]:
			s.fault(path, "", "claim template %s is listed twice", c.Name)
		}
		seen[c.Name] = true
	}
}
