package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestOlderRevision_IsOneThatIsStored: by its number or the one before the present; others are an error.
func TestOlderRevision_IsOneThatIsStored(t *testing.T) {
	desired, s := crowd(t, podJSON(5))
	p := must(plan.Build(desired, s, plan.Policy{}))
	after := *desired
	after.UID = s.Workload.UID
	s.Workload = &after
	older := must(plan.OlderRevision(s, 0))
	back := must(plan.Build(must(plan.WithTemplate(s.Object(), older.Template)), s, plan.Policy{}))
	if back.Change.ToHash != p.Change.FromHash || len(back.Steps) == 0 {
		t.Fatalf("%+v", back.Change)
	}
	if _, err := plan.OlderRevision(s, 99); err == nil || err.Error() != "has no revision 99" {
		t.Errorf("%v", err)
	} else if hint, ok := errors.AsType[*tree.Error](err); !ok || !strings.Contains(hint.Hint, "history "+s.Workload.String()+"'") {
		t.Errorf("the hint names no command that lists them: %+v", err)
	}
	s.Revisions = nil
	if _, err := plan.OlderRevision(s, 0); err == nil || err.Error() != "has no older revision" {
		t.Errorf("%v", err)
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

// atTemplate is a snapshot whose template was written already: of its pods some have it.
func atTemplate(t *testing.T, text string, n, updated int) plan.Snapshot {
	t.Helper()
	s := snapshot(t, text, n)
	s.Workload = read(t, strings.ReplaceAll(text, "web:1", newer))
	s.Revisions = append(s.Revisions, cluster.Revision{Name: "web-new", Number: 2, Template: s.Workload.Template})
	for _, p := range s.Pods[:updated] {
		p.Labels["controller-revision-hash"] = "web-new"
	}
	return s
}

// TestRollback_OfAWrittenTemplate: a rollout that found its template written leads back to what the pods had, not
// on to the template.
func TestRollback_OfAWrittenTemplate(t *testing.T) {
	s := atTemplate(t, clones(", partition: 10"), 10, 0)
	next := read(t, strings.ReplaceAll(clones(""), "web:1", newer))
	p := must(plan.Build(next, s, plan.Policy{Pull: plan.PullNever}))
	if p.Change.FromHash != p.Change.ToHash || p.Change.FromRevision != "web-old" {
		t.Fatalf("%+v", p.Change)
	}
	half := atTemplate(t, clones(", partition: 5"), 10, 5)
	back := must(plan.Rollback(p, half, "because"))
	if back.Change.ToRevision != "web-old" || outline(back) != "update 10/0:5, partition-10 10/0:0" {
		t.Errorf("%+v, %s", back.Change, outline(back))
	}
}

// TestRollback_LeavesTheFormerPartition: the partition is the one before the rollout, once all pods are rolled back.
func TestRollback_LeavesTheFormerPartition(t *testing.T) {
	for name, c := range map[string]struct{ before, want string }{
		"none":         {"", "update 10/0:5"},
		"a number":     {", partition: 4", "update 10/0:5, partition-4 10/0:0"},
		"a percentage": {", partition: 40%", "update 10/0:5, partition-40% 10/0:0"},
	} {
		s := snapshot(t, clones(c.before), 10)
		p := must(plan.Build(read(t, strings.ReplaceAll(clones(c.before), "web:1", newer)), s, plan.Policy{Pull: plan.PullNever, Steps: must(plan.ParseSteps("5,100%"))}))
		half := atTemplate(t, clones(", partition: 5"), 10, 5)
		back := must(plan.Rollback(p, half, "because"))
		if got := outline(back); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if faults := back.CheckWrites(); len(faults) > 0 || len(back.Warnings) > 0 {
			t.Errorf("%s: %v, %v", name, faults, back.Warnings)
		}
	}
}

// TestRollback_OfASubset: its template is that of the UnitedDeployment, so it is not rolled back by itself; its
// pods follow what that was rolled back to.
func TestRollback_OfASubset(t *testing.T) {
	owned := strings.Replace(clones(", partition: 10"), "namespace: shop", "namespace: shop, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, name: zones, uid: u, controller: true}]", 1)
	s := atTemplate(t, owned, 10, 4)
	p := must(plan.Build(read(t, strings.NewReplacer("web:1", newer, ", partition: 10", "").Replace(owned)), s, plan.Policy{Pull: plan.PullNever}))
	_, err := plan.Rollback(p, s, "because")
	place, ok := errors.AsType[*tree.Error](err)
	if !errors.Is(err, plan.ErrSubset) || !ok || !strings.Contains(place.Hint, "rollout abort uniteddeployment/zones --rollback") {
		t.Errorf("%v, %+v", err, place)
	}
	back := must(plan.RollbackSubset(s, "because"))
	if back.RollbackReason != "because" || outline(back) != "step-100% 10/0:6" || back.Change.FromRevision != "web-old" || back.Change.ToRevision != "web-new" {
		t.Errorf("%+v, %s", back.Change, outline(back))
	}
	for _, patch := range back.Steps[0].Patches {
		if patch.Type != plan.PatchMerge {
			t.Errorf("a subset has nothing but its partition to change: %+v", patch)
		}
	}
	if back := must(plan.RollbackSubset(atTemplate(t, owned, 10, 10), "because")); len(back.Steps) > 0 {
		t.Errorf("all pods have the template: %s", outline(back))
	}
	if _, err := plan.RollbackSubset(plan.Snapshot{}, "because"); err == nil {
		t.Error("what is gone is rolled back")
	}
}

// TestLeft_NamesWhatLaterChangesMeet: pods of an earlier template, and the partition that keeps them.
func TestLeft_NamesWhatLaterChangesMeet(t *testing.T) {
	for want, s := range map[string]plan.Snapshot{
		"4 of 10 pods have an earlier template (partition 4)": atTemplate(t, clones(", partition: 4"), 10, 6),
		"1 of 10 pods has an earlier template":                atTemplate(t, clones(""), 10, 9),
		"":                                                    atTemplate(t, clones(", partition: 4"), 10, 10),
	} {
		if got := plan.Left(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if outdated, total := plan.OutdatedPods(plan.Snapshot{}); outdated != 0 || total != 0 || plan.Left(plan.Snapshot{}) != "" {
		t.Error("what is gone leaves something")
	}
}

// TestDigest_HasWhereARollbackLeads: no hash names the template that pods had where the plan found another one written.
func TestDigest_HasWhereARollbackLeads(t *testing.T) {
	s := atTemplate(t, clones(", partition: 10"), 10, 0)
	p := must(plan.Build(read(t, strings.ReplaceAll(clones(""), "web:1", newer)), s, plan.Policy{Pull: plan.PullNever}))
	edited := p
	edited.Change.FromRevision = "web-other"
	if p.Digest("c") == edited.Digest("c") {
		t.Error("an approved plan may be made to lead back elsewhere")
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
