package kruise

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// ResourceDistribution copies a Secret or ConfigMap into namespaces; it is
// cluster-scoped (docs/kruise/distribution.md#resourcedistribution).
type ResourceDistribution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              ResourceDistributionSpec   `json:"spec"`
	Status            ResourceDistributionStatus `json:"status,omitzero"`
}

// ResourceDistributionSpec defines what goes where.
type ResourceDistributionSpec struct {
	// Resource is the whole object, a Secret or ConfigMap.
	Resource runtime.RawExtension        `json:"resource"`
	Targets  ResourceDistributionTargets `json:"targets"`
}

// ResourceDistributionTargets chooses namespaces: all, or the union of the
// listed and the selected ones, in both cases without the excluded.
type ResourceDistributionTargets struct {
	AllNamespaces      bool                           `json:"allNamespaces,omitempty"`
	ExcludedNamespaces ResourceDistributionNamespaces `json:"excludedNamespaces,omitzero"`
	IncludedNamespaces ResourceDistributionNamespaces `json:"includedNamespaces,omitzero"`
	// NamespaceSelector selects nothing when empty. In v1alpha1 it is spelt
	// namespaceLabelSelector.
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector,omitzero"`
}

// ResourceDistributionNamespaces is a list of namespaces.
type ResourceDistributionNamespaces struct {
	List []ResourceDistributionNamespace `json:"list,omitempty"`
}

// ResourceDistributionNamespace is one namespace.
type ResourceDistributionNamespace struct {
	Name string `json:"name,omitempty"`
}

// ResourceDistributionStatus counts the copies.
type ResourceDistributionStatus struct {
	Desired            int32                           `json:"desired,omitempty"`
	Succeeded          int32                           `json:"succeeded,omitempty"`
	Failed             int32                           `json:"failed,omitempty"`
	ObservedGeneration int64                           `json:"observedGeneration,omitempty"`
	Conditions         []ResourceDistributionCondition `json:"conditions,omitempty"`
}

// ResourceDistributionCondition is one kind of trouble; True means there is
// some.
type ResourceDistributionCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	// FailedNamespaces is spelt failedNamespace in v1alpha1.
	FailedNamespaces []string `json:"failedNamespaces,omitempty"`
}

// SystemNamespaces never get a copy from Kruise's main branch on
// (docs/kruise/distribution.md#resourcedistribution, targets 2); releases up to 1.9 copy to them as
// to others.
func (r Release) SystemNamespaces() []string {
	if r.OrNewest() != Next {
		return nil
	}
	return []string{"kube-public", "kube-system"}
}

// Names are the namespaces that are to have a copy, sorted: all that there are, or the
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
