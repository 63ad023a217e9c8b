package rules

import (
	"math"
	"strings"
	"testing"
	"time"

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

func TestCloneSetStepPending(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*kruise.CloneSet)
		want string
	}{
		{"done", func(*kruise.CloneSet) {}, ""},
		{"more than asked for", func(c *kruise.CloneSet) { c.Status.UpdatedAvailableReplicas = 4 }, ""},
		{"not seen", func(c *kruise.CloneSet) { c.Generation = 8 }, "generation 8"},
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

func TestCloneSetPending(t *testing.T) {
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

func TestCloneSetProgressing(t *testing.T) {
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
