package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// ReadPod reads a pod. Maps and lists are shared with it.
func ReadPod(p *corev1.Pod) *Pod {
	out := &Pod{
		Namespace: p.Namespace, Name: p.Name, UID: string(p.UID),
		Labels: p.Labels, Annotations: p.Annotations, Finalizers: p.Finalizers,
		Created: p.CreationTimestamp.Time, Deleting: p.DeletionTimestamp != nil,
		Node: p.Spec.NodeName, Phase: p.Status.Phase,
		Containers:     readContainers(p.Spec.Containers, p.Status.ContainerStatuses),
		InitContainers: readContainers(p.Spec.InitContainers, p.Status.InitContainerStatuses),
	}
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		out.Owner = Owner{Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
	}
	for i := range out.Containers {
		own := p.Spec.Containers[i].RestartPolicy
		out.Containers[i].Final = own == nil && p.Spec.RestartPolicy == corev1.RestartPolicyNever || own != nil && *own == corev1.ContainerRestartPolicyNever
	}
	out.Ephemeral = slices.Grow(out.Ephemeral, len(p.Spec.EphemeralContainers))
	for i := range p.Spec.EphemeralContainers {
		out.Ephemeral = append(out.Ephemeral, p.Spec.EphemeralContainers[i].Name)
	}
	out.ReadinessGates = slices.Grow(out.ReadinessGates, len(p.Spec.ReadinessGates))
	for _, g := range p.Spec.ReadinessGates {
		out.ReadinessGates = append(out.ReadinessGates, string(g.ConditionType))
	}
	out.Conditions = slices.Grow(out.Conditions, len(p.Status.Conditions))
	for _, c := range p.Status.Conditions {
		out.Conditions = append(out.Conditions, Condition{
			Type: string(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time,
		})
	}
	return out
}

func readContainers(spec []corev1.Container, status []corev1.ContainerStatus) []Container {
	out := make([]Container, 0, len(spec))
	for i := range spec {
		c := Container{
			Name: spec[i].Name, Image: spec[i].Image, Priority: launchPriority(spec[i].Env),
			Native: spec[i].RestartPolicy != nil && *spec[i].RestartPolicy == corev1.ContainerRestartPolicyAlways,
		}
		for j := range status {
			if status[j].Name == c.Name {
				c.report(&status[j])
			}
		}
		out = append(out, c)
	}
	return out
}

func (c *Container) report(s *corev1.ContainerStatus) {
	c.Reported, c.StatusImage, c.ImageID = true, s.Image, s.ImageID
	c.Restarts, c.Ready = int(s.RestartCount), s.Ready
	switch {
	case s.State.Waiting != nil:
		c.Waiting, c.Message = s.State.Waiting.Reason, s.State.Waiting.Message
	case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
		c.Waiting = s.State.Terminated.Reason
	}
	if t := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); t != nil && t.ExitCode != 0 {
		c.Ended = fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
	}
}

// launchPriority is the N of a barrier's key p_N.
func launchPriority(env []corev1.EnvVar) *int {
	for _, e := range env {
		if e.Name != kruise.ContainerBarrierEnv || e.ValueFrom == nil || e.ValueFrom.ConfigMapKeyRef == nil {
			continue
		}
		if text, ok := strings.CutPrefix(e.ValueFrom.ConfigMapKeyRef.Key, "p_"); ok {
			if n, err := strconv.Atoi(text); err == nil {
				return &n
			}
		}
	}
	return nil
}

// ReadNode reads a node. Labels and taints are shared with it.
func ReadNode(n *corev1.Node) *Node {
	return &Node{Name: n.Name, Labels: n.Labels, Taints: n.Spec.Taints}
}
