package controller

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func TestEnterState(t *testing.T) {
	hook := &kruise.LifecycleHook{LabelsHandler: map[string]string{"b": "2", "a": "1"}, FinalizersHandler: []string{"example.com/hook"}, MarkPodNotReady: true}
	both := &kruise.Lifecycle{InPlaceUpdate: hook, PreDelete: hook}
	held := `[{"userAgent":"Lifecycle","key":"preUpdateHook"}]`
	two := `[{"userAgent":"Lifecycle","key":"preUpdateHook"},{"userAgent":"Lifecycle","key":"preDeleteHook"}]`
	for _, c := range []struct {
		name      string
		lifecycle *kruise.Lifecycle
		from, to  rules.LifecycleState
		// message is the condition KruisePodReady before; "none" is no such gate.
		message string
		labels  map[string]string
		adds    []string
		want    string
	}{
		{"normal", nil, rules.StatePreparingNormal, rules.StateNormal, "", nil, nil, ""},
		{"prepared, ready", &kruise.Lifecycle{InPlaceUpdate: &kruise.LifecycleHook{}}, rules.StateNormal, rules.StatePreparingUpdate, "", nil, nil, ""},
		{"prepared, not ready", both, rules.StateNormal, rules.StatePreparingUpdate, "", nil, nil, "False " + held},
		{"prepared without the gate", both, rules.StateNormal, rules.StatePreparingUpdate, "none", nil, nil, ""},
		{"prepared again", both, rules.StateUpdated, rules.StatePreparingUpdate, "", map[string]string{"a": "1", "b": "2"}, []string{"example.com/hook"}, "False " + held},
		{"prepared again without a hook", &kruise.Lifecycle{}, rules.StateUpdated, rules.StatePreparingUpdate, "", nil, nil, ""},
		{"held already", both, rules.StateNormal, rules.StatePreparingUpdate, held, nil, nil, ""},
		{"to be deleted", both, rules.StateNormal, rules.StatePreparingDelete, "", nil, nil, `False [{"userAgent":"Lifecycle","key":"preDeleteHook"}]`},
		{"held twice", both, rules.StatePreparingUpdate, rules.StatePreparingDelete, held, nil, nil, "False " + two},
		{"updating stays held", both, rules.StatePreparingUpdate, rules.StateUpdating, held, nil, nil, ""},
		{"taken back while it is prepared, it stays held", both, rules.StatePreparingUpdate, rules.StateNormal, held, nil, nil, ""},
		{"updated", both, rules.StateUpdating, rules.StateUpdated, held, nil, nil, "True "},
		{"updated, held by another", both, rules.StateUpdating, rules.StateUpdated, two, nil, nil, `False [{"userAgent":"Lifecycle","key":"preDeleteHook"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &cluster.Pod{Labels: map[string]string{kruise.LifecycleStateLabel: string(c.from)}, ReadinessGates: []string{kruise.KruisePodReady}}
			status := corev1.ConditionTrue
			if c.message == "none" {
				p.ReadinessGates, c.message = nil, ""
			} else if c.message != "" {
				status = corev1.ConditionFalse
			}
			p.Conditions = []cluster.Condition{cluster.SetTo(kruise.KruisePodReady, status, "", c.message)}
			var got cluster.PodChange
			enterState(&got, p, c.to, c.lifecycle, labStart.Add(400*time.Millisecond))
			labels := map[string]string{kruise.LifecycleStateLabel: string(c.to)}
			maps.Copy(labels, c.labels)
			if diff := cmp.Diff(labels, texts(got.Labels)); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{kruise.LifecycleTimestampAnnotation: "2026-07-01T12:00:00Z"}, texts(got.Annotations)); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.adds, got.AddFinalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			said := ""
			for _, set := range got.Conditions {
				said = string(set.Status) + " " + set.Message
			}
			if said != c.want {
				t.Errorf("KruisePodReady %q, want %q", said, c.want)
			}
		})
	}
}

// TestHolders_IgnoreUnreadableMessages: a message of another program does not count as a hold of
// ours.
func TestHolders_IgnoreUnreadableMessages(t *testing.T) {
	p := &cluster.Pod{ReadinessGates: []string{kruise.KruisePodReady}, Conditions: []cluster.Condition{cluster.SetTo(kruise.KruisePodReady, corev1.ConditionFalse, "", "drained")}}
	var c cluster.PodChange
	holdNotReady(&c, p, preUpdateHook)
	if len(c.Conditions) != 1 || c.Conditions[0].Message != `[{"userAgent":"Lifecycle","key":"preUpdateHook"}]` {
		t.Errorf("%+v", c.Conditions)
	}
}

func TestHoldNotReady_IsTakenBackByTheLastHolder(t *testing.T) {
	p := &cluster.Pod{ReadinessGates: []string{kruise.KruisePodReady}}
	hold := func(change cluster.PodChange) { p = p.With(change, p.Created) }
	status := func() corev1.ConditionStatus {
		c, _ := p.Condition(kruise.KruisePodReady)
		return c.Status
	}
	hold(HoldNotReady(p, "ContainerRecreateRequest", "ns/a"))
	hold(HoldNotReady(p, "ContainerRecreateRequest", "ns/b"))
	if c := HoldNotReady(p, "ContainerRecreateRequest", "ns/b"); len(c.Conditions) > 0 {
		t.Errorf("held twice by the same: %+v", c)
	}
	hold(LetReady(p, "ContainerRecreateRequest", "ns/a"))
	if status() != corev1.ConditionFalse {
		t.Errorf("let go although b still holds it: %s", status())
	}
	hold(LetReady(p, "ContainerRecreateRequest", "ns/b"))
	if status() != corev1.ConditionTrue {
		t.Errorf("still held: %s", status())
	}
	if c := HoldNotReady(&cluster.Pod{}, "ContainerRecreateRequest", "ns/a"); len(c.Conditions) > 0 {
		t.Errorf("a pod without the gate: %+v", c)
	}
}
