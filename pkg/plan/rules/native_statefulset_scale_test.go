package rules

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func nativeStatefulSet(t *testing.T, spec, pods string) *NativeStatefulSet {
	t.Helper()
	s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{}, Update: "web-n", Pods: statefulSet(t, "replicas: 0", pods).Pods, Now: now}
	decode(t, spec, s.Spec)
	return s
}

func TestNativeStatefulSetScale(t *testing.T) {
	const par = "podManagementPolicy: Parallel\n"
	for _, c := range []struct {
		name, spec, pods string
		create, remove   string
		stop             bool
		why              string
	}{
		{"all there", "replicas: 2", "0n 1n", "", "", false, ""},
		{"one after the other", "replicas: 3", "0n", "1n", "", true, ""},
		{"the lowest first", "replicas: 3", "1n", "0n", "", true, ""},
		{"waits for it", "replicas: 3", "0n!", "", "", true, "web-0 is not available"},
		{"waits for one that goes", "replicas: 2", "0n^ 1n", "", "", true, "web-0 is terminating"},
		{"all at once", par + "replicas: 3", "0n!", "1n 2n", "", false, "web-0 is not available"},
		{"below the partition the current revision", par + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 2}}", "", "0o 1o 2n", "", false, ""},
		{"one too many", "replicas: 1", "0n 1n", "", "1", true, ""},
		{"the highest goes first, one at a time", "replicas: 1", "0n 1n 2n", "", "2", true, ""},
		{"waits until it is gone", "replicas: 1", "0n 1n 2n^", "", "", true, "web-2 is terminating"},
		{"a broken one of them goes in its turn", "replicas: 1", "0n 1n 2n!", "", "2", true, ""},
		{"two broken ones block each other", "replicas: 1", "0n 1n! 2n!", "", "", true, "web-1 is not available"},
		{"a broken one below does not hold a good one", "replicas: 1", "0n 1n! 2n", "", "2", true, ""},
		{"nothing goes while one in range is broken", "replicas: 1", "0n! 1n", "", "", true, "web-0 is not available"},
		{"all too many at once", par + "replicas: 1", "0n! 1n 2n^ 3n", "", "3 1", false, "web-0 is not available"},
		{"start", par + "replicas: 2\nordinals: {start: 1}", "0n 1n", "2n", "0", false, ""},
	} {
		got := nativeStatefulSet(t, c.spec, c.pods).Scale()
		var made []string
		for _, m := range got.Create {
			made = append(made, fmt.Sprint(m.Ordinal, map[bool]string{true: "n", false: "o"}[m.Update]))
		}
		if strings.Join(made, " ") != c.create || short(got.Remove) != c.remove || got.Stop != c.stop || !strings.Contains(got.Why, c.why) || (c.why == "") != (got.Why == "") {
			t.Errorf("%s: creates %q, removes %q, stop %v (%s)", c.name, made, short(got.Remove), got.Stop, got.Why)
		}
	}
}

func TestNativeStatefulSetReplacesFinishedPods(t *testing.T) {
	for phase, remove := range map[corev1.PodPhase]string{corev1.PodFailed: "1", corev1.PodSucceeded: "1", corev1.PodPending: ""} {
		s := nativeStatefulSet(t, "replicas: 3", "0n 1n! 2n")
		s.Pods[1].Phase = phase
		if got := s.Scale(); short(got.Remove) != remove || !got.Stop {
			t.Errorf("%s: removes %q, stop %v", phase, short(got.Remove), got.Stop)
		}
	}
}

func TestNativeStatefulSetMissingPodsCount(t *testing.T) {
	for pods, want := range map[string]string{"0o 1o": "", "0o 2o": "2", "1o 2o": "2"} {
		s := nativeStatefulSet(t, "replicas: 3\npodManagementPolicy: Parallel", pods)
		if got := s.ChooseUpdate(); short(got.Pods) != want {
			t.Errorf("%s: takes %q, want %q", pods, short(got.Pods), want)
		}
	}
}

func TestSlots(t *testing.T) {
	list := statefulSet(t, "replicas: 0", "0o 3n 1o 7n").Pods
	want := []int{0, 2, 3}
	got := slots(list, want)
	if len(got) != 3 || got[0] != list[0] || got[1] != nil || got[2] != list[1] {
		t.Errorf("slots = %v", got)
	}
	if top := short(fromTheTop(got)); top != "3 0" {
		t.Errorf("from the top: %s", top)
	}
	if rest := short(outside(list, want)); rest != "7 1" {
		t.Errorf("outside: %s", rest)
	}
	if got := slots([]*cluster.Pod{{Name: "odd"}}, want); got[0] != nil {
		t.Error("a pod without a number has a place")
	}
}

func TestStatefulSetMissingPodsUseTheBudget(t *testing.T) {
	const spec = "replicas: 4\npodManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}"
	for pods, want := range map[string]string{"0o 1o 2o 3o": "3 2", "1o 2o 3o": "3", "2o 3o": "", "0o 1o": "", "1o 2o 3o!": "3"} {
		if got := statefulSet(t, spec, pods).ChooseUpdate(); short(got.Pods) != want {
			t.Errorf("%s: takes %q, want %q", pods, short(got.Pods), want)
		}
	}
}
