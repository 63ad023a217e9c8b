package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const deploymentYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {team: a, kubectl.kubernetes.io/last-applied-configuration: "{}"}}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

func newDeployment(t *testing.T, edits ...string) *lab {
	t.Helper()
	l := newLab(t, edited(deploymentYAML, edits...))
	l.settle()
	l.seconds(2)
	l.did()
	return l
}

// edited replaces pairs of texts.
func edited(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// sizes shows what each ReplicaSet has, in the order in which they were made.
func (l *lab) sizes() string {
	var out []string
	for _, c := range l.children {
		out = append(out, strconv.Itoa(len(c.pods)))
	}
	return strings.Join(out, " ")
}

func (l *lab) deployment() *appsv1.Deployment { return l.w.Object.(*appsv1.Deployment) }

func (l *lab) progressing() string {
	c := deploymentCondition(&l.deployment().Status, appsv1.DeploymentProgressing)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func TestDeployment_CreatesItsReplicaSet(t *testing.T) {
	l := newLab(t, deploymentYAML)
	l.settle()
	child := l.children[0].w
	hash := strings.TrimPrefix(child.Name, "web-")
	rs := replicaSetOf(child)
	for what, got := range map[string]string{
		"label":        rs.Labels["pod-template-hash"],
		"selector":     rs.Spec.Selector.MatchLabels["pod-template-hash"],
		"template":     rs.Spec.Template.Labels["pod-template-hash"],
		"pod":          l.children[0].pods[0].Labels["pod-template-hash"],
		"from outside": child.Labels["pod-template-hash"],
	} {
		if got != hash || hash == "" {
			t.Errorf("%s: hash %q, name %s", what, got, child.Name)
		}
	}
	for key, want := range map[string]string{
		"team": "a", cluster.DeploymentRevisionAnnotation: "1", cluster.DesiredReplicasAnnotation: "4", cluster.MaxReplicasAnnotation: "5", "kubectl.kubernetes.io/last-applied-configuration": "",
	} {
		if got := child.Annotations[key]; got != want {
			t.Errorf("annotation %s is %q, want %q", key, got, want)
		}
	}
	if l.w.Annotations[cluster.DeploymentRevisionAnnotation] != "1" {
		t.Errorf("the Deployment's own revision is %q", l.w.Annotations[cluster.DeploymentRevisionAnnotation])
	}
	if owner := rs.OwnerReferences[0]; owner.Kind != "Deployment" || owner.Name != "web" || string(owner.UID) != l.w.UID || owner.APIVersion != "apps/v1" {
		t.Errorf("owner %+v", owner)
	}
	if len(l.deployment().Spec.Template.Labels) != 1 {
		t.Error("the Deployment's own template has changed")
	}
}

func TestDeployment_Rollouts(t *testing.T) {
	l := newDeployment(t)
	l.write(edited(deploymentYAML, "web:1", "web:2"))
	l.settle()
	if got, want := l.did(), "new rs2=1, scale rs1=3, scale rs2=2"; got != want {
		t.Errorf("first %s, want %s", got, want)
	}
	var at []string
	for range 8 {
		l.second()
		at = append(at, l.sizes())
		if n := l.deployment().Status; n.AvailableReplicas < 3 || n.Replicas > 5 {
			t.Errorf("%d pods, %d available", n.Replicas, n.AvailableReplicas)
		}
	}
	if last := at[len(at)-1]; last != "0 4" {
		t.Errorf("ends with %s: %v", last, at)
	}
	if got := l.progressing(); got != "True NewReplicaSetAvailable" {
		t.Error(got)
	}
	if p := l.settle(); p.RequeueAfter != 0 || p.Why != "4 of 4 updated pods are available" {
		t.Errorf("%+v", p)
	}
}

// TestDeployment_UndoReusesItsReplicaSet: an old template finds its ReplicaSet again, which gets
// a new number.
func TestDeployment_UndoReusesItsReplicaSet(t *testing.T) {
	l := newDeployment(t)
	l.write(edited(deploymentYAML, "web:1", "web:2"))
	l.settle()
	l.seconds(10)
	l.write(deploymentYAML)
	l.settle()
	l.seconds(10)
	if len(l.children) != 2 || l.sizes() != "4 0" {
		t.Errorf("%d ReplicaSets, %s", len(l.children), l.sizes())
	}
	if first, second := revisionNumber(l.children[0].w), revisionNumber(l.children[1].w); first != 3 || second != 2 {
		t.Errorf("numbers %d and %d", first, second)
	}
	if l.w.Annotations[cluster.DeploymentRevisionAnnotation] != "3" {
		t.Error(l.w.Annotations)
	}
}

func TestDeployment_Recreate(t *testing.T) {
	l := newDeployment(t, "{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}", "{type: Recreate}")
	l.write(edited(deploymentYAML, "{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}", "{type: Recreate}", "web:1", "web:2"))
	l.pods = nil
	held := l.children[0].pods[0]
	held.Finalizers = []string{"example.com/hold"}
	l.settle()
	l.seconds(2)
	if got := l.did(); got != "scale rs1=0" || len(l.children) != 1 {
		t.Errorf("%s while a pod terminates", got)
	}
	if p := l.settle(); p.Why != "the pods of the old template are not gone yet" {
		t.Error(p.Why)
	}
	l.children[0].replace(held.UID, func(*cluster.Pod) *cluster.Pod { q := *held; q.Deleting, q.Finalizers = true, nil; return &q })
	l.seconds(3)
	if got := l.did(); got != "new rs2=4" || l.sizes() != "0 4" {
		t.Errorf("%s, then %s", got, l.sizes())
	}
}

func TestDeployment_ScalesWhilePaused(t *testing.T) {
	l := newDeployment(t)
	l.write(edited(deploymentYAML, "web:1", "web:2", "replicas: 4", "replicas: 6\n  paused: true"))
	l.settle()
	if got, want := l.did(), "scale rs1=6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := l.progressing(); got != "Unknown DeploymentPaused" {
		t.Error(got)
	}
	l.write(edited(deploymentYAML, "web:1", "web:2", "replicas: 4", "replicas: 6"))
	l.settle()
	if got := l.did(); !strings.HasPrefix(got, "new rs2=1") {
		t.Error(got)
	}
}

func TestDeployment_ScalesInProportion(t *testing.T) {
	l := newDeployment(t, "replicas: 4", "replicas: 10", "maxSurge: 1", "maxSurge: 3", "maxUnavailable: 1", "maxUnavailable: 2")
	edits := []string{"web:1", "web:2", "maxSurge: 1", "maxSurge: 3", "maxUnavailable: 1", "maxUnavailable: 2"}
	l.broken["web:2"] = true
	l.write(edited(deploymentYAML, append(edits, "replicas: 4", "replicas: 10")...))
	l.settle()
	l.seconds(3)
	l.did()
	if got := l.sizes(); got != "8 5" {
		t.Fatal(got)
	}
	l.write(edited(deploymentYAML, append(edits, "replicas: 4", "replicas: 15")...))
	l.settle()
	if got, want := l.did(), "scale rs1=11, scale rs2=7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDeployment_MissesItsDeadline(t *testing.T) {
	l := newDeployment(t, "replicas: 4", "replicas: 4\n  progressDeadlineSeconds: 5")
	l.broken["web:2"] = true
	l.write(edited(deploymentYAML, "replicas: 4", "replicas: 4\n  progressDeadlineSeconds: 5", "web:1", "web:2"))
	p := l.settle()
	if got := l.progressing(); got != "True ReplicaSetUpdated" && got != "True NewReplicaSetCreated" {
		t.Error(got)
	}
	if p.RequeueAfter <= 0 {
		t.Error("nobody looks when the deadline passes")
	}
	l.seconds(9)
	if got := l.progressing(); got != "False ProgressDeadlineExceeded" {
		t.Error(got)
	}
	if got := l.sizes(); got != "3 2" {
		t.Errorf("it went on to %s", got)
	}
	delete(l.broken, "web:2")
	l.seconds(9)
	if got := l.progressing(); got != "True NewReplicaSetAvailable" {
		t.Error(got)
	}
}

func TestDeployment_WithoutDeadline(t *testing.T) {
	l := newDeployment(t, "replicas: 4", "replicas: 4\n  progressDeadlineSeconds: 2147483647")
	if got := l.progressing(); got != "" {
		t.Error(got)
	}
}

func TestDeployment_Available(t *testing.T) {
	l := newDeployment(t)
	reason := func() string {
		return deploymentCondition(&l.deployment().Status, appsv1.DeploymentAvailable).Reason
	}
	if got := reason(); got != "MinimumReplicasAvailable" {
		t.Error(got)
	}
	child := l.children[0]
	for i, p := range child.pods[:2] {
		child.broken[p.Name] = true
		l.second()
		if got, want := reason(), []string{"MinimumReplicasAvailable", "MinimumReplicasUnavailable"}[i]; got != want {
			t.Errorf("%d broken: %s", i+1, got)
		}
	}
	if n := l.deployment().Status.UnavailableReplicas; n != 2 {
		t.Errorf("%d unavailable", n)
	}
}

func TestDeployment_DeletesOldReplicaSets(t *testing.T) {
	limit := []string{"replicas: 4", "replicas: 1\n  revisionHistoryLimit: 2"}
	l := newDeployment(t, limit...)
	for i := range 5 {
		l.write(edited(deploymentYAML, append(limit, "web:1", fmt.Sprint("web:", i+2))...))
		l.settle()
		l.seconds(6)
	}
	var numbers []int64
	for _, c := range l.children {
		numbers = append(numbers, revisionNumber(c.w))
	}
	if !slices.Equal(numbers, []int64{4, 5, 6}) {
		t.Errorf("left are %v", numbers)
	}
}

func TestDeployment_BadImageStops(t *testing.T) {
	l := newDeployment(t)
	l.broken["web:2"] = true
	l.write(edited(deploymentYAML, "web:1", "web:2"))
	l.settle()
	l.seconds(5)
	if got := l.sizes(); got != "3 2" {
		t.Error(got)
	}
	if c := deploymentCondition(&l.deployment().Status, appsv1.DeploymentAvailable); c.Status != corev1.ConditionTrue {
		t.Errorf("%+v", c)
	}
}
