package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// readable makes the empty typed object of each kind of workload, by GROUP/KIND.
var readable = map[string]func() metav1.Object{
	kruise.Group + "/CloneSet":    func() metav1.Object { return &kruise.CloneSet{} },
	kruise.Group + "/DaemonSet":   func() metav1.Object { return &kruise.DaemonSet{} },
	kruise.Group + "/SidecarSet":  func() metav1.Object { return &kruise.SidecarSet{} },
	kruise.Group + "/StatefulSet": func() metav1.Object { return &kruise.StatefulSet{} },
	"apps/DaemonSet":              func() metav1.Object { return &appsv1.DaemonSet{} },
	"apps/Deployment":             func() metav1.Object { return &appsv1.Deployment{} },
	"apps/ReplicaSet":             func() metav1.Object { return &appsv1.ReplicaSet{} },
	"apps/StatefulSet":            func() metav1.Object { return &appsv1.StatefulSet{} },
}

// IsWorkload reports whether [ReadWorkload] reads objects of the group and kind.
func IsWorkload(group, kind string) bool { return readable[group+"/"+kind] != nil }

// ReadWorkload reads an object of any of the kinds of [Workload], in any version,
// with its status and with the defaults that a cluster would have stored
// ([kruise.DefaultStored]). Fields that the kind does not have are passed over,
// as a cluster prunes them. Another kind, and text where a number is due, is a
// *tree.Error.
func ReadWorkload(n *tree.Node) (*Workload, error) {
	read, err := readTyped(n)
	if err != nil {
		return nil, err
	}
	w, err := read.Whole()
	if err != nil {
		return nil, tree.Errorf(n, "spec", "", "%v", err)
	}
	return w, nil
}

// ReadBare is [ReadWorkload] without the Template, and with the containers and volumes of
// the Object packed, which take nine tenths of the memory: it is for a caller that keeps
// thousands of workloads, and asks few at a time for them ([Workload.Whole]).
func ReadBare(n *tree.Node) (*Workload, error) {
	w, err := readTyped(n)
	if err != nil {
		return nil, err
	}
	if err := w.pack(); err != nil {
		return nil, tree.Errorf(n, "spec", "", "%v", err)
	}
	return w, nil
}

// readTyped is [ReadWorkload] without the Template.
func readTyped(n *tree.Node) (*Workload, error) {
	apiVersion := tree.StrAt(n, "apiVersion")
	i := strings.LastIndexByte(apiVersion, '/')
	group, version := apiVersion[:max(i, 0)], apiVersion[i+1:]
	kind := tree.StrAt(n, "kind")
	empty := readable[group+"/"+kind]
	if empty == nil {
		return nil, tree.Errorf(n, "kind", "kinds: "+kindsText, "%s %s has no rollout", tree.StrAt(n, "apiVersion"), kind)
	}
	obj := empty()
	if _, err := kruise.Decode(n, obj); err != nil {
		return nil, err
	}
	kruise.DefaultStored(obj)
	return &Workload{
		Ref:     Ref{Group: group, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()},
		Version: version, UID: string(obj.GetUID()), Generation: obj.GetGeneration(),
		Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), Object: obj,
	}, nil
}

const kindsText = "CloneSet, StatefulSet, DaemonSet, SidecarSet, Deployment, ReplicaSet"

// ReadRevision reads a stored template: spec.template of its data or, of a
// SidecarSet, the whole spec, without "$patch" (docs/kruise/workloads.md#kubectl-operations).
func ReadRevision(r *appsv1.ControllerRevision) (Revision, error) {
	var data struct{ Spec map[string]any }
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil || data.Spec == nil {
		return Revision{}, &tree.Error{Path: "data", Msg: "revision " + r.Name + " holds no spec"}
	}
	template := data.Spec
	if inner, ok := data.Spec["template"].(map[string]any); ok {
		template = inner
	}
	delete(template, "$patch")
	return Revision{
		Name: r.Name, Number: r.Revision, Template: template,
		ClaimsHash: r.Annotations[kruise.VolumeClaimTemplateHashAnnotation], Cause: r.Annotations[causeAnnotation],
	}, nil
}

// ReadSource rebuilds the Kruise workload of a kind and name that a native one, its
// carrier, was rendered from: its spec is kept in an annotation, without the
// template, which is the carrier's (docs/drivers.md).
func ReadSource(carrier *tree.Node, kind, name string) (*Workload, error) {
	bare, err := ReadBareSource(carrier, kind, name)
	if err != nil {
		return nil, err
	}
	return bare.Whole()
}

// ReadBareSource is [ReadSource] without the Template ([ReadBare]).
func ReadBareSource(carrier *tree.Node, kind, name string) (*Workload, error) {
	var spec map[string]any
	annotation := tree.StrAt(carrier, "metadata", "annotations", kruise.StrategyAnnotation)
	if err := json.Unmarshal([]byte(annotation), &spec); err != nil {
		return nil, tree.Errorf(carrier, "metadata.annotations", "", "annotation %s holds no spec", kruise.StrategyAnnotation)
	}
	n := tree.FromValue(map[string]any{
		"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": tree.StrAt(carrier, "metadata", "namespace")},
		"spec":     spec,
	})
	if template := tree.Get(carrier, "spec", "template"); template != nil {
		tree.SetAt(n, template, "spec", "template")
	}
	return ReadBare(n)
}

// What the controller of Deployments writes on its ReplicaSets: the number of each among
// those of its Deployment, which a Deployment carries, too, and how many pods all of them
// should and may have, by which it knows later that it was scaled.
const (
	DeploymentRevisionAnnotation = "deployment.kubernetes.io/revision"
	DesiredReplicasAnnotation    = "deployment.kubernetes.io/desired-replicas"
	MaxReplicasAnnotation        = "deployment.kubernetes.io/max-replicas"
)

// causeAnnotation is on workloads, and their controllers copy it to revisions.
const causeAnnotation = "kubernetes.io/change-cause"

// ReadReplicaSet reads the template of a Deployment from one of its ReplicaSets: the ReplicaSet's
// own, without the hash that distinguishes ReplicaSets.
func ReadReplicaSet(rs *appsv1.ReplicaSet) (Revision, error) {
	template := rs.Spec.Template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	text, err := json.Marshal(template)
	if err != nil {
		return Revision{}, err
	}
	out := Revision{Name: rs.Name, Cause: rs.Annotations[causeAnnotation]}
	if err := json.Unmarshal(text, &out.Template); err != nil {
		return Revision{}, err
	}
	// One without a number is older than all others.
	out.Number, _ = strconv.ParseInt(rs.Annotations[DeploymentRevisionAnnotation], 10, 64)
	return out, nil
}

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
