package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

const needsNodeAgent = "it does not run without Kruise's node agent"

// What becomes of a PodProbeMarker, and of what Kruise makes of it for its node
// agents (docs/kruise/protection.md#other-features).
var podProbeMarkerRules = []Rule{
	{
		ID: "podprobemarker/selector", Kind: kruise.KindPodProbeMarker, Severity: Lost,
		Fields:  []string{"spec.selector"},
		Becomes: "not rendered: the object is left out, and these pods are not probed",
		Action:  "see the findings on its probes for the nearest equivalent",
	},
	{
		ID: "podprobemarker/probe", Kind: kruise.KindPodProbeMarker, Severity: Lost,
		Fields:  []string{"spec.probes[].name", "spec.probes[].containerName", "spec.probes[].probe"},
		Becomes: needsNodeAgent,
		Action:  "the kubelet runs exec, httpGet and tcpSocket alike as the container's readinessProbe, livenessProbe or startupProbe",
	},
	{
		ID: "podprobemarker/gate", Kind: kruise.KindPodProbeMarker, When: "pods of the input have the condition among their readiness gates", Severity: Lost,
		Fields:  []string{"spec.probes[].podConditionType"},
		Becomes: "pods wait for the condition in their readinessGates and never become ready",
		Action:  "take the readiness gate out of the template, and make the probe the container's readinessProbe",
	},
	{
		ID: "podprobemarker/condition", Kind: kruise.KindPodProbeMarker, Severity: Lost,
		Fields:  []string{"spec.probes[].podConditionType"},
		Becomes: "pods have no such condition",
		Action:  "make the probe the container's readinessProbe and read the condition Ready; a condition of another name needs a controller that writes pods/status",
	},
	{
		ID: "podprobemarker/service-label", Kind: kruise.KindPodProbeMarker, When: "a Service selects by the label", Severity: Lost,
		Fields:  []string{"spec.probes[].markerPolicy"},
		Becomes: "the label that a Service selects by does not follow the probe",
		Action:  "make the probe the container's readinessProbe: a Service leaves out pods that are not ready; put the label into the template",
	},
	{
		ID: "podprobemarker/deletion-cost", Kind: kruise.KindPodProbeMarker, When: "a marker sets controller.kubernetes.io/pod-deletion-cost", Severity: Lost,
		Fields:  []string{"spec.probes[].markerPolicy"},
		Becomes: "the deletion cost does not follow the probe, so scaling in may take pods that are in use",
		Action:  "let the application, or a native sidecar that runs the probe, patch the annotation of its own pod (a Role with patch on pods); or annotate pods right before scaling in",
	},
	{
		ID: "podprobemarker/marker", Kind: kruise.KindPodProbeMarker, Severity: Lost,
		Fields:  []string{"spec.probes[].markerPolicy"},
		Becomes: "labels and annotations do not follow the probe",
		Action:  "let a native sidecar run the probe and patch its own pod (a Role with patch on pods)",
	},
	{
		ID: "nodepodprobe/kept", Kind: kruise.KindNodePodProbe, Severity: Lost,
		Fields:  []string{"spec.podProbes"},
		Becomes: "the object stays a Kruise object, one that Kruise writes itself: the probes do not run without its node agent",
		Action:  "leave the object out of what is applied; see the PodProbeMarker it comes from",
	},
}
