package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// replicaSetBurst is how many pods a ReplicaSet creates or deletes in one pass.
const replicaSetBurst = 500

// reconcileReplicaSet makes one pass of a ReplicaSet. It knows one template, its
// own; pods that somebody has changed since are as good as others.
func reconcileReplicaSet(v *View, rs *appsv1.ReplicaSet) Pass {
	active := activePods(v.Pods)
	want := int(or(rs.Spec.Replicas, 1))
	pass := Pass{
		Status: changed(&rs.Status, replicaSetStatus(v, rs, active)),
		Again:  untilAvailable(active, rs.Spec.MinReadySeconds, v.Now),
		Why:    "as many pods as asked for",
	}
	switch diff := want - len(active); {
	case diff > 0:
		pass.Why = fmt.Sprintf("%d of %d pods are missing", diff, want)
		for range min(diff, replicaSetBurst) {
			pass.act(CreatePod{Prefix: rs.Name + "-"})
		}
	case diff < 0:
		pass.Why = fmt.Sprintf("%d pods are more than %d", -diff, want)
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

func replicaSetStatus(v *View, rs *appsv1.ReplicaSet, active []*cluster.Pod) *appsv1.ReplicaSetStatus {
	s := rs.Status.DeepCopy()
	s.ObservedGeneration = v.Workload.Generation
	s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas = int32(len(active)), 0, 0, 0
	labels, minReady := rs.Spec.Template.Labels, seconds(rs.Spec.MinReadySeconds)
	for _, p := range active {
		if hasLabels(p, labels) {
			s.FullyLabeledReplicas++
		}
		if rules.Ready(p) {
			s.ReadyReplicas++
		}
		if rules.Available(p, minReady, v.Now) {
			s.AvailableReplicas++
		}
	}
	return s
}

func hasLabels(p *cluster.Pod, want map[string]string) bool {
	for k, v := range want {
		if p.Labels[k] != v {
			return false
		}
	}
	return true
}
