package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// overlap reports whether some object may match both selectors, as Kruise
// judges it: a key that one selector wants to exist and the other does not
// mention counts as disjoint (docs/kruise/sidecarset.md#observed-on-a-cluster). nil selects
// everything.
func overlap(a, b wants) bool {
	return a == nil || b == nil || compatible(a, b) && compatible(b, a)
}

// requirements are all of a selector, by key.
func requirements(s *metav1.LabelSelector) map[string][]metav1.LabelSelectorRequirement {
	out := map[string][]metav1.LabelSelectorRequirement{}
	for k, v := range s.MatchLabels {
		out[k] = append(out[k], metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
	}
	for _, r := range s.MatchExpressions {
		out[r.Key] = append(out[r.Key], r)
	}
	return out
}

func compatible(a, b map[string][]metav1.LabelSelectorRequirement) bool {
	for key, list := range a {
		theirs, mentioned := b[key]
		for _, r := range list {
			if !mentioned && r.Operator == metav1.LabelSelectorOpExists {
				return false
			}
			if slices.ContainsFunc(theirs, func(o metav1.LabelSelectorRequirement) bool { return disjoint(r, o) }) {
				return false
			}
		}
	}
	return true
}

// disjoint reports whether no value satisfies both; it is asked both ways.
func disjoint(r, o metav1.LabelSelectorRequirement) bool {
	switch r.Operator {
	case metav1.LabelSelectorOpIn:
		switch o.Operator {
		case metav1.LabelSelectorOpIn:
			return !slices.ContainsFunc(r.Values, func(v string) bool { return slices.Contains(o.Values, v) })
		case metav1.LabelSelectorOpNotIn:
			return !slices.ContainsFunc(r.Values, func(v string) bool { return !slices.Contains(o.Values, v) })
		case metav1.LabelSelectorOpDoesNotExist:
			return true
		}
	case metav1.LabelSelectorOpExists:
		return o.Operator == metav1.LabelSelectorOpDoesNotExist
	}
	return false
}
