package kruise

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PersistentPodState brings re-created pods back to where they were
// (docs/kruise/distribution.md#persistentpodstate).
type PersistentPodState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PersistentPodStateSpec   `json:"spec,omitzero"`
	Status            PersistentPodStateStatus `json:"status,omitzero"`
}

// PersistentPodStateSpec defines what is kept of which workload.
type PersistentPodStateSpec struct {
	TargetRef                         TargetReference                       `json:"targetRef"`
	PersistentPodAnnotations          []PersistentPodAnnotation             `json:"persistentPodAnnotations,omitempty"`
	RequiredPersistentTopology        *NodeTopologyTerm                     `json:"requiredPersistentTopology,omitempty"`
	PreferredPersistentTopology       []PreferredTopologyTerm               `json:"preferredPersistentTopology,omitempty"`
	PersistentPodStateRetentionPolicy PersistentPodStateRetentionPolicyType `json:"persistentPodStateRetentionPolicy,omitempty"`
}

// PersistentPodAnnotation is an annotation to keep.
type PersistentPodAnnotation struct {
	Key string `json:"key"`
}

// NodeTopologyTerm are node labels; v1alpha1 spells the field
// nodeTopologyKeys.
type NodeTopologyTerm struct {
	Keys []string `json:"keys"`
}

// PreferredTopologyTerm are node labels that only count.
type PreferredTopologyTerm struct {
	Weight     int32            `json:"weight"`
	Preference NodeTopologyTerm `json:"preference"`
}

// PersistentPodStateRetentionPolicyType defines when a pod's state goes.
type PersistentPodStateRetentionPolicyType string

// The policies; WhenScaled is the default.
const (
	PersistentPodStateRetainedWhenScaled  PersistentPodStateRetentionPolicyType = "WhenScaled"
	PersistentPodStateRetainedWhenDeleted PersistentPodStateRetentionPolicyType = "WhenDeleted"
)

// PersistentPodStateStatus is what was recorded, by pod name.
type PersistentPodStateStatus struct {
	ObservedGeneration int64               `json:"observedGeneration"`
	PodStates          map[string]PodState `json:"podStates,omitempty"`
}

// PodState is what was recorded of one pod.
type PodState struct {
	NodeName           string            `json:"nodeName,omitempty"`
	NodeTopologyLabels map[string]string `json:"nodeTopologyLabels,omitempty"`
	Annotations        map[string]string `json:"annotations,omitempty"`
}
