package pods

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Row is a pod as a table shows it, in kubectl's words.
type Row struct {
	Name, Ready, Status, Restarts, Age, Node string
	// Revision is the hash of the template that the pod has.
	Revision string
	// IsReady says that all containers are ready.
	IsReady bool
}

// RowOf reads a pod at a time.
func RowOf(p *corev1.Pod, now time.Time) Row {
	ready, restarts := 0, int32(0)
	for _, c := range p.Status.ContainerStatuses {
		if restarts += c.RestartCount; c.Ready {
			ready++
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		restarts += c.RestartCount
	}
	return Row{
		Name: p.Name, Ready: fmt.Sprintf("%d/%d", ready, len(p.Spec.Containers)), Status: status(p), Restarts: strconv.Itoa(int(restarts)),
		Age: duration.HumanDuration(now.Sub(p.CreationTimestamp.Time)), Node: cmp.Or(p.Spec.NodeName, "<none>"),
		Revision: Revision(p), IsReady: ready == len(p.Spec.Containers),
	}
}

// Revision is the hash of the template that a pod has.
func Revision(p *corev1.Pod) string {
	return cmp.Or(p.Labels["controller-revision-hash"], p.Labels["pod-template-hash"])
}

// status is what stands in the way of a pod, its phase where nothing does.
func status(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	for i := range p.Status.InitContainerStatuses {
		if reason := obstacle(&p.Status.InitContainerStatuses[i]); reason != "" && reason != "Completed" && reason != "PodInitializing" {
			return "Init:" + reason
		}
	}
	out := cmp.Or(p.Status.Reason, string(p.Status.Phase))
	for i := range p.Status.ContainerStatuses {
		if reason := obstacle(&p.Status.ContainerStatuses[i]); reason != "" {
			out = reason
		}
	}
	return out
}

// obstacle is why a container does not run.
func obstacle(c *corev1.ContainerStatus) string {
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
