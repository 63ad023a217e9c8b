package kruise

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodePodProbe is the list of probes that one node runs; it is cluster-scoped
// and named like the node. There is only v1alpha1.
type NodePodProbe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              NodePodProbeSpec   `json:"spec,omitzero"`
	Status            NodePodProbeStatus `json:"status,omitzero"`
}

// NodePodProbeSpec holds the probes by pod.
type NodePodProbeSpec struct {
	PodProbes []PodProbe `json:"podProbes,omitempty"`
}

// PodProbe are the probes of one pod.
type PodProbe struct {
	Name      string           `json:"name"`
	Namespace string           `json:"namespace"`
	UID       string           `json:"uid"`
	IP        string           `json:"IP"`
	Probes    []ContainerProbe `json:"probes,omitempty"`
}

// ContainerProbe is one probe; its name starts with the PodProbeMarker's.
type ContainerProbe struct {
	Name          string             `json:"name"`
	ContainerName string             `json:"containerName"`
	Probe         ContainerProbeSpec `json:"probe"`
}

// NodePodProbeStatus holds the results by pod.
type NodePodProbeStatus struct {
	PodProbeStatuses []PodProbeStatus `json:"podProbeStatuses,omitempty"`
}

// PodProbeStatus are the results of one pod.
type PodProbeStatus struct {
	Namespace   string                `json:"namespace"`
	Name        string                `json:"name"`
	UID         string                `json:"uid"`
	ProbeStates []ContainerProbeState `json:"probeStates,omitempty"`
}

// ContainerProbeState is one result.
type ContainerProbeState struct {
	Name               string      `json:"name"`
	State              ProbeState  `json:"state"`
	LastProbeTime      metav1.Time `json:"lastProbeTime,omitzero"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitzero"`
	Message            string      `json:"message,omitempty"`
}
