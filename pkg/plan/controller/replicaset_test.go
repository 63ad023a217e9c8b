package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const replicaSetYAML = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-abc}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

func TestReplicaSet_FollowsReplicas(t *testing.T) {
	l := newLab(t, replicaSetYAML)
	l.settle()
	if got, want := l.did(), "create web-abc-00001 1, create web-abc-00002 1, create web-abc-00003 1"; got != want {
		t.Errorf("up: %s", got)
	}
	l.second()
	l.second()
	l.write(strings.Replace(replicaSetYAML, "replicas: 3", "replicas: 1", 1))
	l.broken["web-abc-00002"] = true
	l.second()
	if got, want := l.did(), "delete web-abc-00002, delete web-abc-00001"; got != want {
		t.Errorf("down: %s, want %s", got, want)
	}
	l.second()
	if got := l.images(); got != "web-abc-00003=1" {
		t.Errorf("left: %s", got)
	}
}

// TestReplicaSet_KnowsOneTemplate: a pod that was changed in place stays, and
// the next one is made from what the ReplicaSet asks for now.
func TestReplicaSet_KnowsOneTemplate(t *testing.T) {
	l := newLab(t, replicaSetYAML)
	l.settle()
	l.second()
	l.edit("web-abc-00001", cluster.PodChange{Images: map[string]string{"main": "web:2"}})
	l.write(strings.Replace(replicaSetYAML, "web:1", "web:2", 1))
	l.did()
	l.second()
	if got := l.did(); got != "" {
		t.Errorf("a new template made it %s", got)
	}
	l.delete(l.pod("web-abc-00002"))
	l.settle()
	if got, want := l.did(), "delete web-abc-00002, create web-abc-00004 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReplicaSet_Status(t *testing.T) {
	l := newLab(t, replicaSetYAML+"  minReadySeconds: 5\n")
	l.settle()
	status := func() appsv1.ReplicaSetStatus { return replicaSetOf(l.w).Status }
	expect := func(when string, want appsv1.ReplicaSetStatus) {
		t.Helper()
		if diff := cmp.Diff(want, status()); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	expect("made", appsv1.ReplicaSetStatus{ObservedGeneration: 1, Replicas: 3, FullyLabeledReplicas: 3})
	other := "other"
	l.edit("web-abc-00003", cluster.PodChange{Labels: map[string]*string{"app": &other}})
	p := l.second()
	expect("ready", appsv1.ReplicaSetStatus{ObservedGeneration: 1, Replicas: 3, FullyLabeledReplicas: 2, ReadyReplicas: 3})
	if want := 5*time.Second + time.Millisecond; p.RequeueAfter != want {
		t.Errorf("looks again after %v, want %v", p.RequeueAfter, want)
	}
	l.seconds(4)
	if status().AvailableReplicas != 0 {
		t.Error("available too early")
	}
	l.seconds(2)
	if got := status(); got.AvailableReplicas != 3 || l.pass().RequeueAfter != 0 {
		t.Errorf("available: %d", got.AvailableReplicas)
	}
}

// TestReplicaSet_CountsALabelWithoutAValue: a pod that lacks the label is not fully labelled, though
// both read as empty.
func TestReplicaSet_CountsALabelWithoutAValue(t *testing.T) {
	l := newLab(t, strings.Replace(replicaSetYAML, "{labels: {app: web}}", `{labels: {app: web, canary: ""}}`, 1))
	l.settle()
	if got := replicaSetOf(l.w).Status.FullyLabeledReplicas; got != 3 {
		t.Errorf("fullyLabeledReplicas is %d of 3", got)
	}
	l.edit("web-abc-00003", cluster.PodChange{Labels: map[string]*string{"canary": nil}})
	l.settle()
	if got := replicaSetOf(l.w).Status.FullyLabeledReplicas; got != 2 {
		t.Errorf("without the label on one pod, fullyLabeledReplicas is %d", got)
	}
}

// TestReplicaSet_LimitsPodsOfOnePass: one pass makes and removes no more than the real one does.
func TestReplicaSet_LimitsPodsOfOnePass(t *testing.T) {
	l := newLab(t, strings.Replace(replicaSetYAML, "replicas: 3", "replicas: 1200", 1))
	for _, want := range []int{500, 1000, 1200, 1200} {
		if l.pass(); len(l.pods) != want {
			t.Errorf("%d pods, want %d", len(l.pods), want)
		}
	}
	l.write(strings.Replace(replicaSetYAML, "replicas: 3", "replicas: 0", 1))
	for _, want := range []int{500, 500, 200, 0} {
		if p := l.pass(); len(p.Actions) != want {
			t.Errorf("%d actions, want %d", len(p.Actions), want)
		}
	}
}

// TestReplicaSet_CountsPodsOfItsDeploymentOnNodes: a node is crowded also by pods of the ReplicaSets
// of the same Deployment.
func TestReplicaSet_CountsPodsOfItsDeploymentOnNodes(t *testing.T) {
	l := newLab(t, strings.Replace(replicaSetYAML, "replicas: 3", "replicas: 2", 1))
	l.settle()
	l.second()
	l.pods[0].Node, l.pods[1].Node = "n1", "n2"
	sister := &cluster.Pod{Name: "sister", Node: "n2"}
	v := &View{Now: l.now.Add(time.Hour), Workload: l.w, Pods: l.pods, Related: append([]*cluster.Pod{sister}, l.pods...)}
	rs := *replicaSetOf(l.w)
	one := int32(1)
	rs.Spec.Replicas = &one
	got := reconcileReplicaSet(v, &rs)
	if len(got.Actions) != 1 || got.Actions[0].(DeletePod).Pod.Node != "n2" {
		t.Errorf("%+v", got.Actions)
	}
}
