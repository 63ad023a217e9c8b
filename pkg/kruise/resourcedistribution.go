package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// ResourceDistributionSpec says what goes where.
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
