package cluster_test

import (
	"testing"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// sibling is a pod of a ReplicaSet, whose texts are its own.
func sibling(owner, image string, since int64) *cluster.Pod {
	text := func(s string) string { return string([]byte(s)) }
	return cluster.ReadPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: text("shop"), Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", UID: "uid-" + "x", Name: text(owner), Controller: new(true)}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: text("app"), Image: text(image)}}, ReadinessGates: []corev1.PodReadinessGate{{ConditionType: corev1.PodConditionType(text("gate"))}}},
		Status: corev1.PodStatus{
			Phase:             corev1.PodPhase(text("Running")),
			Conditions:        []corev1.PodCondition{{Type: corev1.PodConditionType(text("Ready")), Status: "True", LastTransitionTime: metav1.Unix(since, 0)}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: text("app"), ImageID: text("sha256:0")}},
		},
	})
}

// TestInterner_SharesCommonParts: what pods have in common is held once, and nothing about them changes.
func TestInterner_SharesCommonParts(t *testing.T) {
	for name, second := range map[string]func() *cluster.Pod{
		"alike":         func() *cluster.Pod { return sibling("web", "web:1", 1) },
		"later":         func() *cluster.Pod { return sibling("web", "web:1", 2) },
		"another image": func() *cluster.Pod { return sibling("web", "web:2", 1) },
		"bare":          func() *cluster.Pod { return &cluster.Pod{Owner: cluster.Owner{UID: "uid-x"}} },
	} {
		var k cluster.Interner
		first, p := sibling("web", "web:1", 1), second()
		k.Intern(first)
		k.Intern(p)
		if diff := gocmp.Diff(second(), p); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := gocmp.Diff(sibling("web", "web:1", 1), first); diff != "" {
			t.Errorf("%s: the first: %s", name, diff)
		}
		if name == "bare" {
			continue
		}
		if p.Labels["new"] = "x"; first.Labels["new"] != "x" {
			t.Errorf("%s: labels are held twice", name)
		}
		if !one(p.Namespace, first.Namespace) || !one(p.Containers[0].ImageID, first.Containers[0].ImageID) || !one(p.Conditions[0].Type, first.Conditions[0].Type) {
			t.Errorf("%s: texts are held twice", name)
		}
		if (&p.Containers[0] == &first.Containers[0]) != (name != "another image") || (&p.Conditions[0] == &first.Conditions[0]) != (name != "later") {
			t.Errorf("%s: lists are held twice, or once though they differ", name)
		}
	}
}

func one(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }

// TestInterner_ForgetsOldPods: owners that are gone do not stay for ever.
func TestInterner_ForgetsOldPods(t *testing.T) {
	var k cluster.Interner
	first := sibling("web", "web:1", 1)
	k.Intern(first)
	for i := range 3000 {
		k.Intern(&cluster.Pod{Owner: cluster.Owner{UID: string(rune('a' + i))}})
	}
	p := sibling("web", "web:1", 1)
	if k.Intern(p); one(p.Namespace, first.Namespace) {
		t.Error("the first of thousands is remembered")
	}
}
