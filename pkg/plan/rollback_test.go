package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestUndo_LeadsToAnOlderRevision: all pods go to the older template, whatever partition an ended rollout has
// left, and a revision that is not recorded is an error.
func TestUndo_LeadsToAnOlderRevision(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	object := *desired.Object.(*kruise.CloneSet)
	three := intstr.FromInt32(3)
	object.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{Partition: &three}
	after := *desired
	after.Object, after.UID = &object, s.Workload.UID
	s.Workload = &after
	back := must(plan.Undo(s, 0, plan.Policy{}))
	if back.Change.ToHash != p.Change.FromHash || len(back.Steps) == 0 {
		t.Fatalf("%+v", back.Change)
	}
	if last := back.Steps[len(back.Steps)-1]; last.Kept != 0 {
		t.Errorf("%d pods are kept by the partition", last.Kept)
	}
	if _, err := plan.Undo(s, 99, plan.Policy{}); err == nil || err.Error() != "has no revision 99" {
		t.Errorf("%v", err)
	}
	s.Revisions = nil
	if _, err := plan.Undo(s, 0, plan.Policy{}); err == nil || err.Error() != "has no older revision" {
		t.Errorf("%v", err)
	}
	if _, err := plan.Undo(plan.Snapshot{}, 0, plan.Policy{}); err == nil {
		t.Error("what is gone is undone")
	}
}

// TestRollback_TouchesUpdatedPodsOnly: the way back is a plan to the old template, which a stored revision or
// the record of the rollout has.
func TestRollback_TouchesUpdatedPodsOnly(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	old := s.Workload.Template
	half := s
	half.Workload = desired
	half.Workload.UID = s.Workload.UID
	back := must(plan.Rollback(p, half, "because"))
	if back.Change.ToHash != p.Change.FromHash || back.Change.FromHash != p.Change.ToHash || len(back.Steps) == 0 || back.RollbackReason != "because" {
		t.Errorf("%+v", back.Change)
	}
	half.Revisions = nil
	if _, err := plan.Rollback(p, half, "because"); err == nil {
		t.Error("a way back to nowhere")
	}
	half.Base = old
	if again := must(plan.Rollback(p, half, "because")); again.Change.ToHash != p.Change.FromHash {
		t.Errorf("%+v", again.Change)
	}
}

// TestRollback_TakesNoOtherTemplate: the recorded template may have been edited; the way back
// leads to the one that the plan started from, or nowhere.
func TestRollback_TakesNoOtherTemplate(t *testing.T) {
	old := clones("")
	next := strings.ReplaceAll(old, "web:1", newer)
	s := snapshot(t, old, 10)
	p := must(plan.Build(read(t, next), s, plan.Policy{}))
	rolled := plan.Snapshot{Workload: read(t, next), Pods: s.Pods, Gates: s.Gates, Base: s.Workload.Template}
	if _, err := plan.Rollback(p, rolled, "it failed"); err != nil {
		t.Fatal(err)
	}
	rolled.Base = read(t, strings.ReplaceAll(old, "web:1", "evil:1")).Template
	if _, err := plan.Rollback(p, rolled, "it failed"); err == nil || !strings.Contains(err.Error(), "not the one that the workload had") {
		t.Errorf("%v", err)
	}
}

// TestHistory_IsSortedByAge: the oldest first, with what each changed, and who carries it.
func TestHistory_IsSortedByAge(t *testing.T) {
	template := func(image string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": image}}}}
	}
	object := &kruise.CloneSet{}
	object.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{PodUpdatePolicy: kruise.CloneSetPodUpdateStrategyType(rules.PolicyInPlaceIfPossible)}
	pod := func(revision string) *cluster.Pod {
		return &cluster.Pod{Labels: map[string]string{cluster.RevisionLabel: revision}}
	}
	s := plan.Snapshot{
		Workload:  &cluster.Workload{Ref: cluster.Ref{Kind: "CloneSet"}, Object: object, Template: template("app:2")},
		Revisions: []cluster.Revision{{Name: "web-b", Number: 2, Template: template("app:2")}, {Name: "web-a", Number: 1, Template: template("app:1")}},
		Pods:      []*cluster.Pod{pod("web-a"), pod("web-b"), pod("b"), {Deleting: true, Labels: map[string]string{cluster.RevisionLabel: "web-b"}}},
	}
	past := plan.History(s)
	if len(past) != 2 {
		t.Fatalf("%+v", past)
	}
	first, second := past[0], past[1]
	if first.Name != "web-a" || !first.First || first.Present || first.Pods != 1 || len(first.Changed.Fields) > 0 {
		t.Errorf("%+v", first)
	}
	if second.Name != "web-b" || second.First || !second.Present || second.Pods != 2 || second.Changed.Mode != rules.ModeInPlace || len(second.Changed.Fields) != 1 {
		t.Errorf("%+v", second)
	}
	if s.Revisions[0].Number != 2 {
		t.Error("the snapshot was changed")
	}
	if back := plan.Between(s, second.Revision, first.Revision); len(back.Fields) != 1 || back.Fields[0].New != "app:1" {
		t.Errorf("%+v", back)
	}
}
