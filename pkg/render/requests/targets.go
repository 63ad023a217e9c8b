package requests

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// targets chooses the pods as Kruise does: active ones that match, the oldest first,
// without those that hold a container of the same name from elsewhere, no more than
// replicas. Begun are those that the job has given its containers before.
func (q *ephemeral) targets(pods crowd) (todo, begun []*corev1.Pod, err error) {
	match, err := metav1.LabelSelectorAsSelector(q.spec.Selector)
	if err != nil {
		return nil, nil, err
	}
	var fit []*corev1.Pod
	for _, place := range pods.labelled.Candidates(match) {
		if p := pods.list[place]; active(p) && match.Matches(labels.Set(p.Labels)) && !q.taken(p) {
			fit = append(fit, p)
		}
	}
	slices.SortStableFunc(fit, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	if r := q.spec.Replicas; r != nil && int(*r) < len(fit) {
		fit = fit[:max(*r, 0)]
	}
	for _, p := range fit {
		if q.begun(p) {
			begun = append(begun, p)
		} else {
			todo = append(todo, p)
		}
	}
	return todo, begun, nil
}

// active reports a pod that has not ended and is not about to.
func active(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && p.DeletionTimestamp == nil
}

// taken reports a pod in which somebody else has used one of the names.
func (q *ephemeral) taken(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
		return slices.Contains(q.names(), c.Name) && !q.marked(c)
	})
}

// begun reports a pod that has the job's containers.
func (q *ephemeral) begun(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.EphemeralContainers, q.marked)
}

func (q *ephemeral) marked(c corev1.EphemeralContainer) bool {
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == kruise.EphemeralJobEnv && e.Value == q.mark })
}
