package standin

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestRecreateStatus(t *testing.T) {
	alive := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: "app", Ready: true, RestartCount: 1, ContainerID: "new", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}},
		{Name: "log", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Hour))}}},
	}}}
	leaving := alive.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	for name, c := range map[string]struct {
		age      time.Duration
		phase    kruise.ContainerRecreateRequestPhase
		deadline *int64
		grace    *int64
		pod      *corev1.Pod
		message  string
		again    time.Duration
		snapshot int
		grants   bool
	}{
		"the pod is gone":      {pod: nil, message: "pod has gone", again: time.Minute},
		"the pod goes":         {pod: leaving, phase: kruise.ContainerRecreateRequestRecreating, message: "pod has gone"},
		"not taken yet":        {pod: alive, again: time.Minute},
		"never taken":          {pod: alive, age: time.Minute, message: "daemon has not responded for a long time"},
		"within its deadline":  {pod: alive, phase: kruise.ContainerRecreateRequestPending, age: time.Second, deadline: new(int64(3)), again: 2 * time.Second},
		"beyond its deadline":  {pod: alive, phase: kruise.ContainerRecreateRequestPending, age: 3 * time.Second, deadline: new(int64(3)), message: "recreating has exceeded the activeDeadlineSeconds"},
		"what runs since":      {pod: alive, phase: kruise.ContainerRecreateRequestRecreating, snapshot: 1},
		"grace before the end": {pod: alive, phase: kruise.ContainerRecreateRequestRecreating, grace: new(int64(5)), snapshot: 1, grants: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &kruise.ContainerRecreateRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-c.age))}}
			r.Spec.Containers = []kruise.ContainerRecreateRequestContainer{{Name: "app"}, {Name: "log"}}
			r.Spec.ActiveDeadlineSeconds, r.Status.Phase = c.deadline, c.phase
			r.Spec.Strategy = &kruise.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: c.grace}
			status, again := recreateStatus(noon, r, c.pod)
			changes := c.message != "" || c.snapshot > 0
			if (status != nil) != changes || again != c.again {
				t.Fatalf("%+v, again after %s", status, again)
			}
			if !changes {
				return
			}
			if (status.Phase == kruise.ContainerRecreateRequestCompleted) != (c.message != "") || status.Message != c.message {
				t.Errorf("%s: %s", status.Phase, status.Message)
			}
			if len(status.ContainerStatusSnapshot) != c.snapshot || (len(status.Conditions) == 1) != c.grants {
				t.Errorf("%+v", status)
			}
		})
	}
}
