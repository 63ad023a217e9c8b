package controller

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// replicaSetBurst is how many pods a ReplicaSet creates or deletes in one pass.
const replicaSetBurst = 500

// reconcileReplicaSet makes one pass of a ReplicaSet. It knows one template, its
// own; pods that were changed since are as good as others.
func reconcileReplicaSet(v *View, rs *appsv1.ReplicaSet) Pass {
	active := activePods(v.Pods)
	want := int(or(rs.Spec.Replicas, 1))
	s := rs.Status.DeepCopy()
	s.ObservedGeneration = v.Workload.Generation
	s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas = int32(len(active)), 0, 0, 0
	labels, minReady := rs.Spec.Template.Labels, seconds(rs.Spec.MinReadySeconds)
	for _, p := range active {
		if holds(p.Labels, labels) {
			s.FullyLabeledReplicas++
		}
		if rules.Ready(p) {
			s.ReadyReplicas++
		}
		if rules.Available(p, minReady, v.Now) {
			s.AvailableReplicas++
		}
	}
	pass := Pass{
		Status:       changed(&rs.Status, s),
		RequeueAfter: untilAvailable(active, rs.Spec.MinReadySeconds, v.Now),
		Why:          "as many pods as asked for",
	}
	switch diff := want - len(active); {
	case diff > 0:
		pass.Why = fmt.Sprintf("%d of %s missing", diff, counted.PodsAre(want))
		for range min(diff, replicaSetBurst) {
			pass.act(CreatePod{Prefix: rs.Name + "-"})
		}
	case diff < 0:
		pass.Why = fmt.Sprintf("%s more than %d", counted.PodsAre(-diff), want)
		for _, p := range replicaSetVictims(v, active, min(-diff, replicaSetBurst)) {
			pass.act(DeletePod{Pod: p})
		}
	}
	return pass
}

// replicaSetVictims are the pods that go. Those of the sisters count for how
// crowded a node is.
func replicaSetVictims(v *View, active []*cluster.Pod, n int) []*cluster.Pod {
	if n == len(active) {
		return active
	}
	related := active
	if len(v.Related) > 0 {
		related = activePods(v.Related)
	}
	return rules.ReplicaSetScaleDownOrder(active, related, v.Now)[:n]
}

// newReplicaSet makes the ReplicaSet of the present template. Its name and its
// label come from the template, so the same template comes back to it.
func (d *deployment) newReplicaSet(replicas int) *cluster.Workload {
	w := d.view.Workload
	template := d.Spec.Template.DeepCopy()
	// What distinguishes the ReplicaSets of a Deployment. Kubernetes hashes its own Go structure, so that a cluster of the
	// version whose types we use comes to the same name, and others to another of the same kind.
	collisions := d.Status.CollisionCount
	h := fnv.New32a()
	_, _ = h.Write([]byte(dump.ForHash(*template)))
	if collisions != nil {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(*collisions))))
	}
	hash := rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
	template.Labels = labelled(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	size := int32(replicas)
	rs := &appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: kruise.KindReplicaSet},
		ObjectMeta: metav1.ObjectMeta{
			Name: w.Name + "-" + hash, Namespace: w.Namespace, Generation: 1,
			CreationTimestamp: metav1.NewTime(d.view.Now), Labels: maps.Clone(template.Labels),
			Annotations:     d.annotations(),
			OwnerReferences: []metav1.OwnerReference{ownedBy(w)},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &size, MinReadySeconds: d.Spec.MinReadySeconds, Template: *template,
			Selector: withLabel(d.Spec.Selector, appsv1.DefaultDeploymentUniqueLabelKey, hash),
		},
	}
	return &cluster.Workload{
		Ref:     cluster.Ref{Group: "apps", Kind: kruise.KindReplicaSet, Namespace: w.Namespace, Name: rs.Name},
		Version: "v1", Generation: 1, Labels: rs.Labels, Annotations: rs.Annotations, Object: rs,
		Template: cluster.WithLabel(w.Template, appsv1.DefaultDeploymentUniqueLabelKey, hash),
	}
}

// annotations are the Deployment's own, but for what tools apply it by, and what
// the ReplicaSet has to know.
func (d *deployment) annotations() map[string]string {
	out := maps.Clone(d.view.Workload.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	delete(out, corev1.LastAppliedConfigAnnotation)
	maps.Copy(out, d.recorded())
	out[cluster.DeploymentRevisionAnnotation] = strconv.FormatInt(d.newestOld()+1, 10)
	return out
}

// recorded are the annotations by which the controller knows that spec.replicas
// has changed.
func (d *deployment) recorded() map[string]string {
	return map[string]string{
		cluster.DesiredReplicasAnnotation: strconv.Itoa(d.limits.Replicas),
		cluster.MaxReplicasAnnotation:     strconv.Itoa(d.limits.Replicas + d.limits.MaxSurge),
	}
}

func ownedBy(w *cluster.Workload) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: w.Group + "/" + w.Version, Kind: w.Kind, Name: w.Name, UID: types.UID(w.UID),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

func labelled(labels map[string]string, key, value string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

func withLabel(s *metav1.LabelSelector, key, value string) *metav1.LabelSelector {
	out := s.DeepCopy()
	if out == nil {
		out = &metav1.LabelSelector{}
	}
	out.MatchLabels = labelled(out.MatchLabels, key, value)
	return out
}

func replicaSetOf(w *cluster.Workload) *appsv1.ReplicaSet { return w.Object.(*appsv1.ReplicaSet) }

// revisionNumber is the revision of the Deployment that a ReplicaSet holds.
func revisionNumber(w *cluster.Workload) int64 {
	n, _ := strconv.ParseInt(w.Annotations[cluster.DeploymentRevisionAnnotation], 10, 64)
	return n
}

func sizesOf(list []*cluster.Workload) []rules.ReplicaSetSize {
	out := make([]rules.ReplicaSetSize, len(list))
	for i, w := range list {
		out[i] = sizeOf(w)
	}
	return out
}

// sizeOf reads a ReplicaSet; nil is one that does not exist.
func sizeOf(w *cluster.Workload) rules.ReplicaSetSize {
	if w == nil {
		return rules.ReplicaSetSize{}
	}
	rs := replicaSetOf(w)
	out := rules.ReplicaSetSize{Name: w.Name, Replicas: int(or(rs.Spec.Replicas, 1)), Available: int(rs.Status.AvailableReplicas)}
	if desired, err := strconv.Atoi(w.Annotations[cluster.DesiredReplicasAnnotation]); err == nil {
		most, _ := strconv.Atoi(w.Annotations[cluster.MaxReplicasAnnotation])
		out.Recorded = &rules.RecordedSize{Desired: desired, Most: most}
	}
	return out
}
