package simulate

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// keepChildren makes the ReplicaSets of a Deployment out of its revisions: a
// snapshot shows nothing else of them, and its pods belong to them.
func (w *World) keepChildren(s plan.Snapshot, ref cluster.Ref) error {
	parent := w.objects[ref]
	d, ok := parent.workload.Object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	for _, r := range s.Revisions {
		if err := w.loadObject(childOf(parent.workload, d, r, podsNamed(s.Pods, r.Name), w.now()), nil); err != nil {
			return err
		}
	}
	w.parents()
	return nil
}

// podsNamed are the active pods of one ReplicaSet.
func podsNamed(list []*cluster.Pod, owner string) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range list {
		if p.Owner.Kind == kruise.KindReplicaSet && p.Owner.Name == owner && rules.Active(p) {
			out = append(out, p)
		}
	}
	return out
}

// childOf is one ReplicaSet, as large as it has pods.
func childOf(parent *cluster.Workload, d *appsv1.Deployment, r cluster.Revision, pods []*cluster.Pod, now time.Time) *tree.Node {
	limits := rules.LimitsOfDeployment(&d.Spec)
	meta, _ := r.Template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	labels = with(labels, appsv1.DefaultDeploymentUniqueLabelKey, cluster.Hash(r.Name))
	return tree.FromValue(map[string]any{
		"apiVersion": "apps/v1", "kind": kruise.KindReplicaSet,
		"metadata": map[string]any{
			"name": r.Name, "namespace": parent.Namespace, "generation": 1, "labels": labels,
			"annotations": map[string]any{
				cluster.DeploymentRevisionAnnotation: strconv.FormatInt(r.Number, 10),
				cluster.DesiredReplicasAnnotation:    strconv.Itoa(limits.Replicas),
				cluster.MaxReplicasAnnotation:        strconv.Itoa(limits.Replicas + limits.MaxSurge),
			},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "apps/v1", "kind": kruise.KindDeployment, "name": parent.Name, "uid": parent.UID, "controller": true,
			}},
		},
		"spec": map[string]any{
			"replicas": len(pods), "minReadySeconds": d.Spec.MinReadySeconds,
			"selector": map[string]any{"matchLabels": labels},
			"template": with(r.Template, "metadata", with(meta, "labels", labels)),
		},
		"status": childStatus(pods, time.Duration(d.Spec.MinReadySeconds)*time.Second, now),
	})
}

// childStatus is the status of a ReplicaSet with these pods.
func childStatus(pods []*cluster.Pod, minReady time.Duration, now time.Time) map[string]any {
	ready, available := 0, 0
	for _, p := range pods {
		if rules.Ready(p) {
			ready++
		}
		if rules.Available(p, minReady, now) {
			available++
		}
	}
	return map[string]any{
		"replicas": len(pods), "fullyLabeledReplicas": len(pods), "readyReplicas": ready, "availableReplicas": available, "observedGeneration": 1,
	}
}
