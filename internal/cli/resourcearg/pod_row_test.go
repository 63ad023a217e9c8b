package resourcearg

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func waitingContainer(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func TestPodRow_ShowsStateAndAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Labels: map[string]string{"pod-template-hash": "abc"}},
		Spec:       corev1.PodSpec{Containers: make([]corev1.Container, 2)},
		Status: corev1.PodStatus{Phase: "Running", ContainerStatuses: []corev1.ContainerStatus{
			{Ready: true, RestartCount: 2}, {RestartCount: 1, State: waitingContainer("CrashLoopBackOff")},
		}},
	}
	want := PodRow{Name: "web-0", Ready: "1/2", Status: "CrashLoopBackOff", Restarts: "3", Age: "60m", Node: "<none>", Revision: "abc"}
	if diff := cmp.Diff(want, PodRowOf(pod, now)); diff != "" {
		t.Error(diff)
	}
}

func TestPodStatus_NamesTheWorstReason(t *testing.T) {
	of := func(s ...corev1.ContainerState) (out []corev1.ContainerStatus) {
		for _, state := range s {
			out = append(out, corev1.ContainerStatus{State: state})
		}
		return out
	}
	ended := func(reason string, code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}}
	}
	for want, s := range map[string]corev1.PodStatus{
		"Pending":               {Phase: "Pending"},
		"Evicted":               {Phase: "Failed", Reason: "Evicted"},
		"Running":               {Phase: "Running", ContainerStatuses: of(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})},
		"Completed":             {Phase: "Succeeded", ContainerStatuses: of(ended("Completed", 0)), InitContainerStatuses: of(ended("Completed", 0))},
		"ExitCode:3":            {Phase: "Failed", ContainerStatuses: of(ended("", 3))},
		"Init:ImagePullBackOff": {Phase: "Pending", InitContainerStatuses: of(waitingContainer("ImagePullBackOff")), ContainerStatuses: of(waitingContainer("PodInitializing"))},
	} {
		if got := podStatus(&corev1.Pod{Status: s}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := podStatus(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}); got != "Terminating" {
		t.Error(got)
	}
}
