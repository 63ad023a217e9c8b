package demo

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Manifest is an object, or a pod, as a cluster would have it.
func (c *Cluster) Manifest(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.details[ref]; d != nil {
		return written(d.Snapshot.Workload.Object, ref, d.Snapshot.Workload.Version)
	}
	if p := c.find(ref); p != nil {
		return written(object(p), ref, "v1")
	}
	return "", missing(ref)
}

// written is an object as YAML; values are masked as every source does it.
func written(object any, ref cluster.Ref, version string) (string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return "", err
	}
	out["kind"], out["apiVersion"] = ref.Kind, version
	if ref.Group != "" {
		out["apiVersion"] = ref.Group + "/" + version
	}
	text, err = yaml.Marshal(mask.Object(out))
	return string(text), err
}

// object is a pod of the model as one of a cluster; what the model does not have is
// not there.
func object(p *cluster.Pod) *corev1.Pod {
	out := &corev1.Pod{}
	out.Name, out.Namespace, out.UID, out.Labels, out.Annotations = p.Name, p.Namespace, types.UID(p.UID), p.Labels, p.Annotations
	out.CreationTimestamp, out.Finalizers = metav1.NewTime(p.Created), p.Finalizers
	if p.Owner.Name != "" {
		yes := true
		out.OwnerReferences = []metav1.OwnerReference{{Kind: p.Owner.Kind, Name: p.Owner.Name, UID: types.UID(p.Owner.UID), Controller: &yes}}
	}
	out.Spec.NodeName, out.Status.Phase = p.Node, p.Phase
	for _, g := range p.ReadinessGates {
		out.Spec.ReadinessGates = append(out.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
	}
	for _, c := range p.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: metav1.NewTime(c.Since),
		})
	}
	out.Spec.InitContainers, out.Status.InitContainerStatuses = containers(p.InitContainers)
	out.Spec.Containers, out.Status.ContainerStatuses = containers(p.Containers)
	return out
}

func containers(list []cluster.Container) (spec []corev1.Container, status []corev1.ContainerStatus) {
	for _, c := range list {
		spec = append(spec, corev1.Container{Name: c.Name, Image: c.Image})
		if !c.Reported {
			continue
		}
		s := corev1.ContainerStatus{Name: c.Name, Image: c.StatusImage, ImageID: c.ImageID, Ready: c.Ready, RestartCount: int32(c.Restarts)}
		if c.Waiting != "" {
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: c.Waiting, Message: c.Message}
		} else {
			s.State.Running = &corev1.ContainerStateRunning{}
		}
		status = append(status, s)
	}
	return spec, status
}
