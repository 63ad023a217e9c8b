package kruise

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
)

// SystemNamespaces never get a copy from Kruise's main branch on
// (docs/kruise/distribution.md#resourcedistribution, targets 2); releases up to 1.9 copy to them as
// to others.
func (r Release) SystemNamespaces() []string {
	if r.OrNewest() != Next {
		return nil
	}
	return []string{"kube-public", "kube-system"}
}

// Names are the namespaces that shall have a copy, sorted: all that there are, or the
// listed ones, there or not, with the selected; less the excluded, and those of the system
// (docs/kruise/distribution.md#resourcedistribution). The error is a selector that cannot be read.
func (t *ResourceDistributionTargets) Names(there map[string]k8slabels.Set, release Release) ([]string, error) {
	selector := k8slabels.Nothing()
	if s := &t.NamespaceSelector; len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(s); err != nil {
			return nil, err
		}
	}
	var names []string
	for name, set := range there {
		if t.AllNamespaces || selector.Matches(set) {
			names = append(names, name)
		}
	}
	if !t.AllNamespaces {
		names = append(names, t.IncludedNamespaces.names()...)
	}
	excluded := append(t.ExcludedNamespaces.names(), release.SystemNamespaces()...)
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(excluded, name) })
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (n ResourceDistributionNamespaces) names() []string {
	out := make([]string, len(n.List))
	for i, one := range n.List {
		out[i] = one.Name
	}
	return out
}
