package daemon_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/daemon"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// request asks for the containers a and b.
func request(strategy kruise.ContainerRecreateRequestStrategy) *kruise.ContainerRecreateRequest {
	crr := &kruise.ContainerRecreateRequest{}
	crr.Spec.Strategy = &strategy
	for _, name := range []string{"a", "b"} {
		crr.Spec.Containers = append(crr.Spec.Containers, kruise.ContainerRecreateRequestContainer{
			Name: name, StatusContext: &kruise.ContainerRecreateRequestStatusContext{ContainerID: name + "-1"},
		})
	}
	return crr
}

// pod runs the containers with these IDs, ready since now.
func pod(ids ...string) *corev1.Pod {
	p := &corev1.Pod{}
	for i, id := range ids {
		s := corev1.ContainerStatus{Name: string(rune('a' + i)), ContainerID: id}
		if id != "" {
			s.Ready = true
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	return p
}

// pass makes one pass and returns the container that it stops.
func pass(crr *kruise.ContainerRecreateRequest, at time.Time, p *corev1.Pod) string {
	status, stop, _ := daemon.Recreate(at, crr, p)
	crr.Status = status
	if stop == nil {
		return ""
	}
	return stop.Container
}

// phases are the phases of the request and of its containers.
func phases(crr *kruise.ContainerRecreateRequest) string {
	out := string(crr.Status.Phase)
	for _, s := range crr.Status.ContainerRecreateStates {
		out += "/" + string(s.Phase)
	}
	return out
}

func TestRecreate(t *testing.T) {
	type step struct {
		pod    *corev1.Pod
		after  time.Duration
		stops  string
		phases string
	}
	failing := pod("a-1", "b-1")
	failing.Annotations = map[string]string{life.KillFailsAnnotation: "a"}
	tests := []struct {
		name     string
		strategy kruise.ContainerRecreateRequestStrategy
		steps    []step
	}{
		{"one stop a pass", kruise.ContainerRecreateRequestStrategy{}, []step{
			{pod("a-1", "b-1"), 0, "a", "Recreating/Recreating/Pending"},
			{pod("", "b-1"), 0, "b", "Recreating/Recreating/Recreating"},
			{pod("a-2", "b-2"), 0, "", "Completed/Succeeded/Succeeded"},
		}},
		{"ordered", kruise.ContainerRecreateRequestStrategy{OrderedRecreate: true}, []step{
			{pod("a-1", "b-1"), 0, "a", "Recreating/Recreating/Pending"},
			{pod("", "b-1"), 0, "", "Recreating/Recreating/Pending"},
			{pod("a-2", "b-1"), 0, "b", "Recreating/Succeeded/Recreating"},
			{pod("a-2", "b-2"), 0, "", "Completed/Succeeded/Succeeded"},
		}},
		{"restarted by itself", kruise.ContainerRecreateRequestStrategy{}, []step{
			{pod("a-2", "b-2"), 0, "", "Completed/Succeeded/Succeeded"},
		}},
		{"forced", kruise.ContainerRecreateRequestStrategy{ForceRecreate: true}, []step{
			{pod("a-2", "b-2"), 0, "a", "Recreating/Recreating/Pending"},
		}},
		{"minimum start time", kruise.ContainerRecreateRequestStrategy{MinStartedSeconds: 3}, []step{
			{pod("a-2", "b-2"), 2 * time.Second, "", "Recreating/Recreating/Recreating"},
			{pod("a-2", "b-2"), 3 * time.Second, "", "Completed/Succeeded/Succeeded"},
		}},
		{"failure ends it", kruise.ContainerRecreateRequestStrategy{FailurePolicy: kruise.ContainerRecreateFail}, []step{
			{failing, 0, "", "Completed/Failed/Pending"},
		}},
		{"failure ignored", kruise.ContainerRecreateRequestStrategy{FailurePolicy: kruise.ContainerRecreateIgnore}, []step{
			{failing, 0, "", "Recreating/Failed/Pending"},
			{failing, 0, "b", "Recreating/Failed/Recreating"},
		}},
		{"waits for the controller's drain", kruise.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: new(int64(2))}, []step{
			{pod("a-1", "b-1"), time.Hour, "", "Recreating/Pending/Pending"},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			crr := request(test.strategy)
			for i, s := range test.steps {
				if got := pass(crr, now.Add(s.after), s.pod); got != s.stops {
					t.Errorf("pass %d stops %q, want %q", i, got, s.stops)
				}
				if got := phases(crr); got != s.phases {
					t.Errorf("pass %d: %s, want %s", i, got, s.phases)
				}
			}
		})
	}
}

func TestPull(t *testing.T) {
	n := &kruise.NodeImage{}
	n.Spec.Images = map[string]kruise.ImageSpec{
		"registry.test/app": {Tags: []kruise.ImageTagSpec{{Tag: "1"}}},
		"bad.lab/app":       {Tags: []kruise.ImageTagSpec{{Tag: "1"}}},
	}
	images := life.NewImages()
	status, again := daemon.Pull(now, n, images, time.Second)
	if status.Pulling != 1 || status.Failed != 1 || again == 0 {
		t.Errorf("at first: %+v", status)
	}
	n.Status = status
	status, again = daemon.Pull(now.Add(time.Second), n, images, time.Second)
	if status.Succeeded != 1 || status.Desired != 2 || again != 0 || !images.Has("registry.test/app:1", now.Add(time.Second)) {
		t.Errorf("then: %+v", status)
	}
	n.Status = status
	n.Spec.Images["registry.test/app"].Tags[0].Version = 2
	if status, _ = daemon.Pull(now.Add(time.Minute), n, images, time.Second); status.ImageStatuses["registry.test/app"].Tags[0].Version != 2 {
		t.Errorf("version raised: %+v", status)
	}
}
