package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// alone reports whether the rollout is for one pod that no workload of ours owns: of a
// Job, or of nobody. Only its containers can be restarted.
func (c *Cluster) alone() bool { return c.opt.Target.Kind == "Pod" }

// lone reads such a pod as a set of one, with a template that nobody changes.
func lone(u *unstructured.Unstructured) (*cluster.Workload, error) {
	var p corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
		return nil, err
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, DeletionTimestamp: p.DeletionTimestamp},
		Spec:       appsv1.ReplicaSetSpec{Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: p.Labels}},
	}
	return &cluster.Workload{
		Ref:     cluster.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name},
		Version: "v1", UID: string(p.UID), Labels: p.Labels, Annotations: p.Annotations, Object: set, Template: map[string]any{},
	}, nil
}
