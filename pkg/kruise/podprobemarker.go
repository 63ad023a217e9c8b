package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodProbeMarker runs probes and writes their results onto pods; there is only
// v1alpha1 (docs/kruise/protection.md#other-features).
type PodProbeMarker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PodProbeMarkerSpec   `json:"spec,omitzero"`
	Status            PodProbeMarkerStatus `json:"status,omitzero"`
}

// PodProbeMarkerSpec defines what is probed where.
type PodProbeMarkerSpec struct {
	Selector *metav1.LabelSelector `json:"selector"`
	Probes   []PodContainerProbe   `json:"probes"`
}

// PodContainerProbe is one probe; MarkerPolicy or PodConditionType is set.
type PodContainerProbe struct {
	Name             string                  `json:"name"`
	ContainerName    string                  `json:"containerName"`
	Probe            ContainerProbeSpec      `json:"probe"`
	MarkerPolicy     []ProbeMarkerPolicy     `json:"markerPolicy,omitempty"`
	PodConditionType corev1.PodConditionType `json:"podConditionType,omitempty"`
}

// ContainerProbeSpec is a probe as Kubernetes knows it.
type ContainerProbeSpec struct {
	corev1.Probe `json:",inline"`
}

// ProbeState is the result of a probe.
type ProbeState string

// The results.
const (
	ProbeSucceeded ProbeState = "Succeeded"
	ProbeFailed    ProbeState = "Failed"
	ProbeUnknown   ProbeState = "Unknown"
)

// ProbeMarkerPolicy is what a pod carries while the probe has this result.
type ProbeMarkerPolicy struct {
	State       ProbeState        `json:"state"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodProbeMarkerStatus counts pods.
type PodProbeMarkerStatus struct {
	ObservedGeneration int64 `json:"observedGeneration"`
	MatchedPods        int64 `json:"matchedPods,omitempty"`
}
