package rules

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestObserved: until the controller has seen generation 4, the status is about an
// older spec.
func TestObserved(t *testing.T) {
	meta := metav1.ObjectMeta{Generation: 4}
	for observed, want := range map[int64]bool{3: false, 4: true, 5: true} {
		for _, obj := range []any{
			&kruise.CloneSet{ObjectMeta: meta, Status: kruise.CloneSetStatus{ObservedGeneration: observed}},
			&kruise.StatefulSet{ObjectMeta: meta, Status: kruise.StatefulSetStatus{ObservedGeneration: observed}},
			&kruise.DaemonSet{ObjectMeta: meta, Status: kruise.DaemonSetStatus{ObservedGeneration: observed}},
			&kruise.SidecarSet{ObjectMeta: meta, Status: kruise.SidecarSetStatus{ObservedGeneration: observed}},
			&appsv1.Deployment{ObjectMeta: meta, Status: appsv1.DeploymentStatus{ObservedGeneration: observed}},
			&appsv1.ReplicaSet{ObjectMeta: meta, Status: appsv1.ReplicaSetStatus{ObservedGeneration: observed}},
			&appsv1.StatefulSet{ObjectMeta: meta, Status: appsv1.StatefulSetStatus{ObservedGeneration: observed}},
			&appsv1.DaemonSet{ObjectMeta: meta, Status: appsv1.DaemonSetStatus{ObservedGeneration: observed}},
		} {
			if Observed(obj) != want {
				t.Errorf("%T, observed %d: %v", obj, observed, !want)
			}
		}
	}
	if !Observed(nil) {
		t.Error("what has no generation is not observed")
	}
}

func TestReplicasPending(t *testing.T) {
	meta, three := metav1.ObjectMeta{Generation: 2}, int32(3)
	for replicas, want := range map[int32]string{3: "[]", 2: "[replicas is 2 of 3]"} {
		for _, obj := range []any{
			&kruise.CloneSet{ObjectMeta: meta, Spec: kruise.CloneSetSpec{Replicas: &three}, Status: kruise.CloneSetStatus{ObservedGeneration: 2, Replicas: replicas}},
			&kruise.StatefulSet{ObjectMeta: meta, Spec: kruise.StatefulSetSpec{Replicas: &three}, Status: kruise.StatefulSetStatus{ObservedGeneration: 2, Replicas: replicas}},
			&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three}, Status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: replicas}},
			&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &three}, Status: appsv1.ReplicaSetStatus{ObservedGeneration: 2, Replicas: replicas}},
			&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &three}, Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: replicas}},
		} {
			if got := fmt.Sprint(ReplicasPending(obj)); got != want {
				t.Errorf("%T: %s, want %s", obj, got, want)
			}
		}
	}
	late := &kruise.CloneSet{ObjectMeta: meta}
	if got := fmt.Sprint(ReplicasPending(late)); got != "[the controller has not seen generation 2 yet (observedGeneration 0) replicas is 0 of 1]" {
		t.Error(got)
	}
	if !ReplicasPending(&kruise.DaemonSet{}).Done() {
		t.Error("a DaemonSet has no replicas to wait for")
	}
}

// TestAvailablePending: pods that are there and not available do not count.
func TestAvailablePending(t *testing.T) {
	meta, three := metav1.ObjectMeta{Generation: 2}, int32(3)
	for available, want := range map[int32]string{3: "[]", 4: "[]", 2: "[availableReplicas is 2 of 3]"} {
		for _, obj := range []any{
			&kruise.CloneSet{ObjectMeta: meta, Spec: kruise.CloneSetSpec{Replicas: &three}, Status: kruise.CloneSetStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: available}},
			&kruise.StatefulSet{ObjectMeta: meta, Spec: kruise.StatefulSetSpec{Replicas: &three}, Status: kruise.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: available}},
			&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three}, Status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: available}},
			&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &three}, Status: appsv1.ReplicaSetStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: available}},
			&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &three}, Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 3, AvailableReplicas: available}},
		} {
			if got := fmt.Sprint(AvailablePending(obj)); got != want {
				t.Errorf("%T: %s, want %s", obj, got, want)
			}
		}
	}
	late := &appsv1.StatefulSet{ObjectMeta: meta, Status: appsv1.StatefulSetStatus{AvailableReplicas: 1}}
	if got := fmt.Sprint(AvailablePending(late)); got != "[the controller has not seen generation 2 yet (observedGeneration 0)]" {
		t.Error(got)
	}
	if !AvailablePending(&appsv1.DaemonSet{}).Done() {
		t.Error("a DaemonSet has no replicas to wait for")
	}
}

func TestDeploymentStepPending(t *testing.T) {
	for _, c := range []struct {
		status appsv1.DeploymentStatus
		want   string
	}{
		{appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 3}, "[]"},
		{appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 5}, "[]"},
		{appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 2}, "[updatedReplicas is 2 of 3]"},
		{appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 3, UnavailableReplicas: 1}, "[unavailableReplicas is 1]"},
		{appsv1.DeploymentStatus{ObservedGeneration: 1, UpdatedReplicas: 3}, "[the controller has not seen generation 2 yet (observedGeneration 1)]"},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
		if got := fmt.Sprint(DeploymentStepPending(d, 3)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.status, got, c.want)
		}
	}
}

func TestNativeStatefulSetDescending(t *testing.T) {
	four, two := int32(4), int32(2)
	s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{Replicas: &four}, Pods: pods(t, "o o o o o")}
	for i, p := range s.Pods {
		p.Name = "web-" + itoa(i)
	}
	s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &two}
	if got := names(s.Descending()); got != "web-3 web-2 web-1 web-0" {
		t.Error(got)
	}
	if s.Budget() != 1 {
		t.Error("without the gate one pod at a time goes")
	}
}

func TestSidecarSetMaxUnavailable(t *testing.T) {
	for text, want := range map[string]int{"": 1, "3": 3, "50%": 3, "1%": 1, "0": 0} {
		s := &SidecarSet{Spec: &kruise.SidecarSetSpec{}}
		if text != "" {
			s.Spec.UpdateStrategy.MaxUnavailable = value(text)
		}
		if got := s.MaxUnavailable(5); got != want {
			t.Errorf("%q of 5: %d, want %d", text, got, want)
		}
	}
}
