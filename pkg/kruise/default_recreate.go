package kruise

import corev1 "k8s.io/api/core/v1"

// DefaultRecreate fills in what the webhook of a ContainerRecreateRequest takes
// from the pod when the request is made (docs/kruise/jobs.md#containerrecreaterequest): the
// labels by which the node's agent finds the request, the grace period, and of
// each container the hook, the ports that an HTTP hook may name, and what it is
// to be compared with later. It expects that the request passed the check.
func DefaultRecreate(r *ContainerRecreateRequest, pod *corev1.Pod) {
	defaultContainerRecreateRequest(&r.Spec)
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[ContainerRecreatePodUIDLabel] = string(pod.UID)
	r.Labels[ContainerRecreateNodeNameLabel] = pod.Spec.NodeName
	r.Labels[ContainerRecreateActiveLabel] = "true"
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		setDefault(&r.Spec.Strategy.TerminationGracePeriodSeconds, *grace)
	}
	for i := range r.Spec.Containers {
		snapshotContainer(&r.Spec.Containers[i], pod)
	}
}

// RecreateOn marks a request for a pod on a virtual node, where no agent of Kruise
// runs; on any other node it stays as it is.
func RecreateOn(r *ContainerRecreateRequest, node *corev1.Node) {
	if node.Labels[NodeTypeLabel] != VirtualNodeType {
		return
	}
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[NodeTypeLabel] = VirtualNodeType
}

func snapshotContainer(c *ContainerRecreateRequestContainer, pod *corev1.Pod) {
	for _, known := range pod.Spec.Containers {
		if known.Name != c.Name || known.Lifecycle == nil || known.Lifecycle.PreStop == nil {
			continue
		}
		hook := known.Lifecycle.PreStop
		c.PreStop = &ContainerRecreatePreStop{Exec: hook.Exec, HTTPGet: hook.HTTPGet, TCPSocket: hook.TCPSocket}
		if hook.HTTPGet != nil {
			c.Ports = known.Ports
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == c.Name {
			c.StatusContext = &ContainerRecreateRequestStatusContext{ContainerID: status.ContainerID, RestartCount: status.RestartCount}
		}
	}
}
