package standin

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// daemonSilent is after how long a request that no node has taken up is over.
const daemonSilent = 60 * time.Second

// recreateStatus is the controller's part of a request's status, nil when nothing
// changes, and after what time to look again. A nil pod is one that is gone, or
// another of the same name.
func recreateStatus(now time.Time, r *kruise.ContainerRecreateRequest, pod *corev1.Pod) (*kruise.ContainerRecreateRequestStatus, time.Duration) {
	out := *r
	out.Status.Conditions = append([]metav1.Condition(nil), r.Status.Conditions...)
	why, again := overdue(now, r)
	if pod == nil || pod.DeletionTimestamp != nil {
		why = "pod has gone"
	}
	switch {
	case why != "":
		out.Status.Phase, out.Status.Message = kruise.ContainerRecreateRequestCompleted, why
		out.Status.CompletionTime = &metav1.Time{Time: now.Truncate(time.Second)}
	case r.Status.Phase == kruise.ContainerRecreateRequestRecreating:
		out.Status.ContainerStatusSnapshot = snapshot(r, pod)
		if holds(r) {
			meta.SetStatusCondition(&out.Status.Conditions, metav1.Condition{
				Type: kruise.ContainerRecreatePreRecreateGrace, Status: metav1.ConditionTrue, Reason: "UnreadyAcquired",
			})
		}
	}
	if len(out.Status.Conditions) == 0 {
		out.Status.Conditions = r.Status.Conditions
	}
	if reflect.DeepEqual(out.Status, r.Status) {
		return nil, again
	}
	return &out.Status, again
}

// overdue reports why a request is over although nothing is wrong with its pod, or
// after what time it would be.
func overdue(now time.Time, r *kruise.ContainerRecreateRequest) (why string, again time.Duration) {
	limits := map[string]time.Duration{}
	if r.Status.Phase == "" {
		limits["daemon has not responded for a long time"] = daemonSilent
	}
	if d := r.Spec.ActiveDeadlineSeconds; d != nil {
		limits["recreating has exceeded the activeDeadlineSeconds"] = time.Duration(*d) * time.Second
	}
	for text, limit := range limits {
		left := r.CreationTimestamp.Add(limit).Sub(now)
		if left <= 0 {
			return text, 0
		}
		if again == 0 || left < again {
			again = left
		}
	}
	return "", again
}

// snapshot are the containers that run since the request was made.
func snapshot(r *kruise.ContainerRecreateRequest, pod *corev1.Pod) []kruise.ContainerRecreateRequestContainerStatusSnapshot {
	var out []kruise.ContainerRecreateRequestContainerStatusSnapshot
	for _, c := range r.Spec.Containers {
		for i := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[i]
			if s.Name == c.Name && s.State.Running != nil && !s.State.Running.StartedAt.Before(&r.CreationTimestamp) {
				out = append(out, kruise.ContainerRecreateRequestContainerStatusSnapshot{
					Name: s.Name, Ready: s.Ready, RestartCount: s.RestartCount, ContainerID: s.ContainerID,
				})
			}
		}
	}
	return out
}
