package rules

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// rolledOut is a CloneSet of 5 whose rollout to web-n is complete.
func rolledOut(t *testing.T) *kruise.CloneSet {
	t.Helper()
	c := &kruise.CloneSet{}
	c.Generation = 7
	decode(t, "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 0}}", &c.Spec)
	c.Status = kruise.CloneSetStatus{
		ObservedGeneration: 7, Replicas: 5, UpdatedReplicas: 5, UpdatedAvailableReplicas: 5, ExpectedUpdatedReplicas: 5,
		CurrentRevision: "web-n", UpdateRevision: "web-n",
	}
	return c
}

// halfway is the same after a step to partition 3.
func halfway(t *testing.T) *kruise.CloneSet {
	t.Helper()
	c := rolledOut(t)
	c.Spec.UpdateStrategy.RollingUpdate.Partition = value("3")
	s := &c.Status
	s.CurrentRevision, s.UpdatedReplicas, s.UpdatedAvailableReplicas, s.ExpectedUpdatedReplicas = "web-o", 2, 2, 2
	return c
}

func TestCloneSet_StepPending(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*kruise.CloneSet)
		want string
	}{
		{"done", func(*kruise.CloneSet) {}, ""},
		{"more than asked for", func(c *kruise.CloneSet) { c.Status.UpdatedAvailableReplicas = 4 }, ""},
		{"not seen", func(c *kruise.CloneSet) { c.Generation = 8 }, "generation 8"},
		{"not seen, with counts of the spec before", func(c *kruise.CloneSet) { c.Generation, c.Status.ExpectedUpdatedReplicas = 8, 5 }, "generation 8"},
		{"partition not counted yet", func(c *kruise.CloneSet) { c.Status.ExpectedUpdatedReplicas = 1 }, "expectedUpdatedReplicas is 1 of 2"},
		{"updated, not available", func(c *kruise.CloneSet) { c.Status.UpdatedAvailableReplicas = 1 }, "updatedAvailableReplicas is 1 of 2"},
		{"surge left over", func(c *kruise.CloneSet) { c.Status.Replicas = 6 }, "replicas is 6 of 5"},
	} {
		set := halfway(t)
		c.edit(set)
		expect(t, c.name, CloneSetStepPending(set), c.want)
	}
	set := halfway(t)
	set.Spec.UpdateStrategy.RollingUpdate.Partition = value("100%")
	set.Status.ExpectedUpdatedReplicas, set.Status.UpdatedAvailableReplicas = 0, 0
	expect(t, "nothing asked for", CloneSetStepPending(set), "")
}

func TestCloneSet_Pending(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*kruise.CloneSet)
		want string
	}{
		{"done", func(*kruise.CloneSet) {}, ""},
		{"not seen", func(c *kruise.CloneSet) { c.Status.ObservedGeneration = 6 }, "generation 7"},
		{"one missing", func(c *kruise.CloneSet) { c.Status.Replicas = 4 }, "replicas is 4 of 5"},
		{"one old", func(c *kruise.CloneSet) { c.Status.UpdatedReplicas = 4 }, "updatedReplicas is 4 of 5"},
		{"one not available", func(c *kruise.CloneSet) { c.Status.UpdatedAvailableReplicas = 4 }, "updatedAvailableReplicas is 4 of 5"},
		{"current revision behind", func(c *kruise.CloneSet) { c.Status.CurrentRevision = "web-o" }, "currentRevision is still web-o"},
	} {
		set := rolledOut(t)
		c.edit(set)
		expect(t, c.name, CloneSetPending(set), c.want)
	}
	if p := CloneSetPending(halfway(t)); len(p) != 3 {
		t.Errorf("halfway: %q, want all three reasons", p)
	}
}

// expect holds one reason, or none.
func expect(t *testing.T, name string, p Pending, want string) {
	t.Helper()
	if p.Done() != (want == "") {
		t.Errorf("%s: Done() = %v, %q", name, p.Done(), p)
		return
	}
	if want != "" && (len(p) != 1 || !strings.Contains(p[0], want)) {
		t.Errorf("%s: %q, want %q", name, p, want)
	}
}

func TestCloneSet_Progressing(t *testing.T) {
	going := func(c *kruise.CloneSet) { c.Status.UpdatedAvailableReplicas, c.Status.UpdatedReplicas = 1, 1 }
	since := func(ago time.Duration, reason string) func(*kruise.CloneSet) {
		return func(c *kruise.CloneSet) {
			going(c)
			c.Status.Conditions = []kruise.CloneSetCondition{
				{Type: "FailedUpdate"},
				{Type: "Progressing", Reason: reason, LastUpdateTime: metav1.NewTime(now.Add(-ago))},
			}
		}
	}
	for _, c := range []struct {
		name   string
		from   func(*testing.T) *kruise.CloneSet
		edit   func(*kruise.CloneSet)
		status corev1.ConditionStatus
		reason string
	}{
		{"available", rolledOut, func(*kruise.CloneSet) {}, "True", ReasonCloneSetAvailable},
		{"available wins over paused", rolledOut, func(c *kruise.CloneSet) { c.Spec.UpdateStrategy.RollingUpdate.Paused = true }, "True", ReasonCloneSetAvailable},
		{"step done", halfway, func(*kruise.CloneSet) {}, "True", ReasonProgressPartitionAvailable},
		{"paused wins over step done", halfway, func(c *kruise.CloneSet) { c.Spec.UpdateStrategy.RollingUpdate.Paused = true }, "True", ReasonCloneSetPaused},
		{"going on, no condition before", halfway, going, "True", ReasonCloneSetUpdated},
		{"deadline 60, last 10 s ago", halfway, since(10*time.Second, ReasonCloneSetAvailable), "True", ReasonCloneSetUpdated},
		{"deadline 60, last 120 s ago", halfway, since(120*time.Second, ReasonCloneSetAvailable), "False", ReasonProgressDeadlineExceeded},
		{"sticks", halfway, since(time.Second, ReasonProgressDeadlineExceeded), "False", ReasonProgressDeadlineExceeded},
	} {
		set := c.from(t)
		sixty := int32(60)
		set.Spec.ProgressDeadlineSeconds = &sixty
		c.edit(set)
		status, reason, ok := CloneSetProgressing(set, now)
		if status != c.status || reason != c.reason || !ok {
			t.Errorf("%s: %s, %s, %v", c.name, status, reason, ok)
		}
	}
	set := rolledOut(t)
	if _, _, ok := CloneSetProgressing(set, now); ok {
		t.Error("a condition without a deadline")
	}
	never := int32(math.MaxInt32)
	set.Spec.ProgressDeadlineSeconds = &never
	if _, _, ok := CloneSetProgressing(set, now); ok {
		t.Error("a condition with the deadline never")
	}
}

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
	if got := fmt.Sprint(ReplicasPending(late)); got != "[the controller has not seen generation 2 yet (observedGeneration 0)]" {
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

func TestDeployment_StepPending(t *testing.T) {
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

func TestNativeStatefulSet_Descending(t *testing.T) {
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

func TestSidecarSet_MaxUnavailable(t *testing.T) {
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

// TestDefect_DaemonSetIsNotDoneEarly: the older plugin had no status of Advanced DaemonSets. Ours
// is not done while its controller has not seen the change, while nodes have old pods,
// or while updated ones are not available.
func TestDefect_DaemonSetIsNotDoneEarly(t *testing.T) {
	status := func(change func(*kruise.DaemonSet)) Pending {
		d := &kruise.DaemonSet{}
		d.Generation = 2
		d.Status = kruise.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3}
		change(d)
		return DaemonSetPending(d)
	}
	if p := status(func(*kruise.DaemonSet) {}); !p.Done() {
		t.Errorf("all are updated: %v", p)
	}
	for name, change := range map[string]func(*kruise.DaemonSet){
		"the change is not seen": func(d *kruise.DaemonSet) { d.Generation = 3 },
		"a node has an old pod":  func(d *kruise.DaemonSet) { d.Status.UpdatedNumberScheduled = 2 },
		"one is not available":   func(d *kruise.DaemonSet) { d.Status.NumberAvailable = 2 },
	} {
		if p := status(change); p.Done() {
			t.Errorf("%s, and it is done", name)
		}
	}
}
