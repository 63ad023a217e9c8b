package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRecreated: a request is over when its phase says so, and good when every
// container is.
func TestRecreated(t *testing.T) {
	type states = []kruise.ContainerRecreateRequestContainerRecreateState
	for name, c := range map[string]struct {
		phase   kruise.ContainerRecreateRequestPhase
		message string
		states  states
		want    plan.Result
	}{
		"new":        {"", "", nil, plan.Result{Text: "container main pending, container log pending"}},
		"under way":  {"Recreating", "", states{{Name: "main", Phase: "Succeeded"}, {Name: "log", Phase: "Recreating"}}, plan.Result{Text: "container log recreating"}},
		"good":       {"Completed", "", states{{Name: "log", Phase: "Succeeded"}, {Name: "main", Phase: "Succeeded"}}, plan.Result{Done: true, Good: true}},
		"failed":     {"Completed", "", states{{Name: "main", Phase: "Failed", Message: "cannot be stopped"}}, plan.Result{Done: true, Text: "container main failed: cannot be stopped; container log pending"}},
		"no daemon":  {"Completed", "daemon has not responded for a long time", nil, plan.Result{Done: true, Text: "daemon has not responded for a long time; container main pending; container log pending"}},
		"never back": {"Completed", "recreating has exceeded the activeDeadlineSeconds", states{{Name: "main", Phase: "Recreating"}, {Name: "log", Phase: "Succeeded"}}, plan.Result{Done: true, Text: "recreating has exceeded the activeDeadlineSeconds; container main recreating"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &kruise.ContainerRecreateRequest{}
			r.Spec.Containers = []kruise.ContainerRecreateRequestContainer{{Name: "main"}, {Name: "log"}}
			r.Status = kruise.ContainerRecreateRequestStatus{Phase: c.phase, Message: c.message, ContainerRecreateStates: c.states}
			if diff := cmp.Diff(c.want, resultOfRequest(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAskedOf: what is written on a pod says later how its restart went.
func TestAskedOf(t *testing.T) {
	p := observedPod{Pod: &cluster.Pod{Containers: []cluster.Container{{Name: "main", Restarts: 3, Ready: true}, {Name: "log", Restarts: 9, Ready: true}}}}
	a := newRestartNote("m", p, plan.RestartSignal, []string{"main"})
	p.Annotations = map[string]string{restartAnnotation: a.text()}
	got, ok := restartNoteOf(p.Pod)
	if diff := cmp.Diff(restartNote{"m", plan.RestartSignal, map[string]int{"main": 3}, false}, got); !ok || diff != "" {
		t.Error(diff)
	}
	main := &p.Containers[0]
	if r := got.result(p.Pod); r.Done || r.Text != "container main has not restarted yet (its first process may not handle TERM)" {
		t.Errorf("%+v", r)
	}
	main.Restarts, main.Ready = 4, false
	if r := got.result(p.Pod); r.Done || r.Text != "container main is not ready yet" {
		t.Errorf("%+v", r)
	}
	main.Ready = true
	if r := got.result(p.Pod); !r.Done || !r.Good {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{"", "yes", "[]"} {
		p.Annotations[restartAnnotation] = text
		if _, ok := restartNoteOf(p.Pod); ok {
			t.Errorf("%q says nothing", text)
		}
	}
}

// TestMarks: the same step has the same mark on every machine, and a step that begins
// anew has another.
func TestMarks(t *testing.T) {
	ref := cluster.Ref{Kind: "CloneSet", Namespace: "shop", Name: "web"}
	at := time.Date(2026, 7, 1, 12, 0, 0, 5, time.UTC)
	first := stepIDOf(ref, plan.Progress{Step: 1, Started: at})
	for name, p := range map[string]plan.Progress{
		"next step": {Step: 2, Started: at}, "again": {Step: 1, Started: at.Add(time.Nanosecond)},
	} {
		if stepIDOf(ref, p) == first {
			t.Errorf("%s has the same mark", name)
		}
	}
	if stepIDOf(ref, plan.Progress{Step: 1, Started: at.In(time.FixedZone("x", 3600)), Resumed: at.Add(time.Hour), Sent: 1}) != first {
		t.Error("the mark depends on more than the step's beginning")
	}
	long := first.objectName("a-very-long-name-of-a-workload-that-nobody-would-ever-type.-by-hand", "web:2")
	if len(long) > 63 || long == first.objectName("a-very-long-name-of-a-workload-that-nobody-would-ever-type.-by-hand", "web:3") {
		t.Error(long)
	}
}

// TestPullErrors: why an image does not come, and which.
func TestPullErrors(t *testing.T) {
	waiting := func(image, reason, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}}
	}
	volume := waiting("busybox:1", "ErrImagePull", "not found")
	volume.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "web:2"}}}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"starting":   {waiting("web:2", "ContainerCreating", ""), ""},
		"not found":  {waiting("web:2", "ErrImagePull", "not found"), "ErrImagePull: not found"},
		"as volume":  {volume, "ErrImagePull: not found"},
		"the helper": {waiting("busybox:1", "ImagePullBackOff", "busybox:1: not found"), "ImagePullBackOff for the helper image busybox:1"},
	} {
		if got := pullError(c.pod, "web:2"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPullStates: failed nodes are named, and a job that is over says so.
func TestPullStates(t *testing.T) {
	job := &kruise.ImagePullJob{}
	job.Status.Desired, job.Status.Succeeded = 3, 1
	if diff := cmp.Diff(plan.PullState{}, stateOfImagePullJob(job)); diff != "" {
		t.Error(diff)
	}
	job.Status.FailedNodes = []string{"n2"}
	if s := stateOfImagePullJob(job); s.Over || len(s.Troubles) != 1 || s.Troubles[0].Node != "n2" || !s.Troubles[0].Final {
		t.Errorf("%+v", s)
	}
	if _, ok := jobEnd(&batchv1.Job{}); ok {
		t.Error("a new Job has not ended")
	}
	n := &kruise.NodeImage{}
	n.Spec.Images = map[string]kruise.ImageSpec{"web": {Tags: []kruise.ImageTagSpec{{Tag: "2", Version: 2, OwnerReferences: []corev1.ObjectReference{{Namespace: "shop", Name: "job"}}}}}}
	for _, c := range []struct {
		version int64
		want    kruise.ImagePullPhase
	}{{1, kruise.ImagePhaseWaiting}, {2, kruise.ImagePhaseFailed}} {
		n.Status.ImageStatuses = map[string]kruise.ImageStatus{"web": {Tags: []kruise.ImageTagStatus{{Tag: "2", Version: c.version, Phase: kruise.ImagePhaseFailed, Message: "x"}}}}
		if s, ok := nodePullOfAgent(n, "shop", "job"); !ok || s.Phase != c.want {
			t.Errorf("version %d: %+v", c.version, s)
		}
	}
	if _, ok := nodePullOfAgent(n, "shop", "other"); ok {
		t.Error("that is another job's")
	}
}

// TestSignals: what a container must be like to be restarted by a signal.
func TestSignals(t *testing.T) {
	never, yes := corev1.ContainerRestartPolicyNever, true
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "a"},
		{Name: "b", RestartPolicy: &never},
		{Name: "c", Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"drain"}}}}},
	}}}
	got := signalFactsOf(p)
	if diff := cmp.Diff([]string{"b"}, got.endingContainers); diff != "" || got.sharedProcesses != "" || got.preStopCommands["c"][0] != "drain" {
		t.Errorf("%+v", got)
	}
	p.Spec.RestartPolicy, p.Spec.ShareProcessNamespace = corev1.RestartPolicyNever, &yes
	if got := signalFactsOf(p); len(got.endingContainers) != 3 || got.sharedProcesses == "" {
		t.Errorf("%+v", got)
	}
}
