package cluster

import (
	"encoding/json"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// methods has the name of the method that each kind is given to.
type methods struct{}

func (methods) CloneSet(*kruise.CloneSet) string             { return "CloneSet" }
func (methods) StatefulSet(*kruise.StatefulSet) string       { return "StatefulSet" }
func (methods) DaemonSet(*kruise.DaemonSet) string           { return "DaemonSet" }
func (methods) SidecarSet(*kruise.SidecarSet) string         { return "SidecarSet" }
func (methods) Deployment(*appsv1.Deployment) string         { return "Deployment" }
func (methods) ReplicaSet(*appsv1.ReplicaSet) string         { return "ReplicaSet" }
func (methods) NativeStatefulSet(*appsv1.StatefulSet) string { return "NativeStatefulSet" }
func (methods) NativeDaemonSet(*appsv1.DaemonSet) string     { return "NativeDaemonSet" }

// TestBy_EveryReadableKind: each kind that is read as a workload has a method of its own, and no
// method is without a kind.
func TestBy_EveryReadableKind(t *testing.T) {
	seen := map[string]string{}
	for id, empty := range readable {
		method := By(empty(), Kinds[string](methods{}))
		if other := seen[method]; method == "" || other != "" {
			t.Errorf("%s has the method %q, as %q has", id, method, other)
		}
		seen[method] = id
	}
	if n := reflect.TypeFor[Kinds[string]]().NumMethod(); n != len(seen) {
		t.Errorf("%d kinds are read, %d are told apart", len(seen), n)
	}
	if got := By(&corev1.Pod{}, Kinds[string](methods{})); got != "" {
		t.Errorf("a Pod is a %s", got)
	}
}

// TestTyped_Copies: a copy has the new value where the kind has the field, and the
// object itself stays as it was.
func TestTyped_Copies(t *testing.T) {
	two := int32(2)
	for id, empty := range readable {
		o := empty()
		kruise.DefaultStored(o)
		before := text(t, o)
		of := Of(o)
		if _, ok := of.Replicas(); ok {
			if n, _ := Of(of.WithReplicas(7)).Replicas(); n != 7 {
				t.Errorf("%s: WithReplicas(7) has %d", id, n)
			}
		} else if of.WithReplicas(7) != any(o) {
			t.Errorf("%s has no replicas, and WithReplicas made a copy", id)
		}
		if _, ok := of.Partition(); ok {
			if v, _ := Of(of.WithPartition(intstr.FromInt32(two))).Partition(); v != intstr.FromInt32(two) {
				t.Errorf("%s: WithPartition(2) has %s", id, &v)
			}
		}
		if Of(of.WithPaused(true)).Paused() && Of(Of(of.WithPaused(true)).WithPaused(false)).Paused() {
			t.Errorf("%s: stays paused", id)
		}
		template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "n"}}
		if got := Of(of.WithTemplate(template)).Template(); of.Template() != nil && got.Spec.NodeName != "n" {
			t.Errorf("%s: WithTemplate has %+v", id, got)
		}
		pods := Of(of.WithPods(5))
		if n, ok := pods.Scheduled(); ok && n != 5 {
			t.Errorf("%s: WithPods(5) has %d nodes", id, n)
		}
		if n, ok := pods.Replicas(); ok && n != 5 {
			t.Errorf("%s: WithPods(5) has %d replicas", id, n)
		}
		if after := text(t, o); after != before {
			t.Errorf("%s was changed in place: %s, was %s", id, after, before)
		}
	}
}

// TestTyped_OfOtherKindsIsEmpty: an object of another kind, and none, has empty answers.
func TestTyped_OfOtherKindsIsEmpty(t *testing.T) {
	for _, obj := range []any{nil, &corev1.Pod{}, "text", (*Workload)(nil)} {
		of := Of(obj)
		_, counted := of.Replicas()
		_, scheduled := of.Scheduled()
		_, partitioned := of.Partition()
		if counted || scheduled || partitioned || of.Paused() || of.Template() != nil || of.Selector() != nil || of.WithReplicas(3) != obj || of.WithPods(3) != obj {
			t.Errorf("%T is treated as a workload", obj)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
