package check

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// choose wants a selector that is there, not empty and valid; nil means that it
// is at fault, which is reported.
func (s *subject) choose(path string, sel *metav1.LabelSelector, hint string) labels.Selector {
	switch {
	case sel == nil:
		s.fault(path, hint, "a selector is required")
		return nil
	case len(sel.MatchLabels)+len(sel.MatchExpressions) == 0:
		s.fault(path, hint, "an empty selector is not allowed")
		return nil
	}
	return s.sound(path, sel)
}

// sound wants a selector, if there is one, to be valid.
func (s *subject) sound(path string, sel *metav1.LabelSelector) labels.Selector {
	chosen, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		s.fault(path, "", "%v", err)
		return nil
	}
	return chosen
}

// owns wants the selector of a workload to take the pods of its template.
func (s *subject) owns(sel *metav1.LabelSelector, pods map[string]string) {
	chosen := s.choose("spec.selector", sel, "name the labels of the pods")
	if chosen != nil && !chosen.Matches(labels.Set(pods)) {
		s.fault("spec.template.metadata.labels", "give the template the labels of spec.selector", "the selector does not match the labels of the template")
	}
}
