package resourcearg

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// PodRow is a pod as a table shows it, in kubectl's words.
type PodRow struct {
	Name, Ready, Status, Restarts, Age, Node string
	// Revision is the hash of the template that the pod has.
	Revision string
	// IsReady indicates that all containers are ready.
	IsReady bool
}

// PodRowOf reads a pod at a time.
func PodRowOf(p *corev1.Pod, now time.Time) PodRow {
	ready, restarts := 0, int32(0)
	for _, c := range p.Status.ContainerStatuses {
		if restarts += c.RestartCount; c.Ready {
			ready++
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		restarts += c.RestartCount
	}
	return PodRow{
		Name: p.Name, Ready: fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers)), Status: podStatus(p), Restarts: strconv.Itoa(int(restarts)),
		Age: duration.HumanDuration(now.Sub(p.CreationTimestamp.Time)), Node: cmp.Or(p.Spec.NodeName, "<none>"),
		Revision: PodRevision(p), IsReady: ready == len(p.Spec.Containers),
	}
}

// PodRevision is the hash of the template that a pod has.
func PodRevision(p *corev1.Pod) string {
	return cmp.Or(p.Labels["controller-revision-hash"], p.Labels["pod-template-hash"])
}

// podStatus is the problem of a pod, or its phase if it has none.
func podStatus(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	for i := range p.Status.InitContainerStatuses {
		if reason := containerReason(&p.Status.InitContainerStatuses[i]); reason != "" && reason != "Completed" && reason != "PodInitializing" {
			return "Init:" + reason
		}
	}
	out := cmp.Or(p.Status.Reason, string(p.Status.Phase))
	for i := range p.Status.ContainerStatuses {
		if reason := containerReason(&p.Status.ContainerStatuses[i]); reason != "" {
			out = reason
		}
	}
	return out
}

// containerReason is why a container does not run.
func containerReason(c *corev1.ContainerStatus) string {
	switch s := c.State; {
	case s.Waiting != nil:
		return s.Waiting.Reason
	case s.Terminated != nil && s.Terminated.Reason != "":
		return s.Terminated.Reason
	case s.Terminated != nil:
		return fmt.Sprintf("ExitCode:%d", s.Terminated.ExitCode)
	}
	return ""
}

// WorkingContainer is the container that does the work of a sidecar in a pod: of a
// hot-upgraded one it is one of two, and an annotation tells which; any other is a
// container by that name (docs/kruise/sidecarset.md#annotations). hot says which of the two it
// was.
func WorkingContainer(pod *corev1.Pod, sidecar string) (container string, hot bool) {
	var working map[string]string
	// What is no such map records no hot upgrade.
	_ = json.Unmarshal([]byte(pod.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation]), &working)
	if container := working[sidecar]; container != "" {
		return container, true
	}
	return sidecar, false
}
