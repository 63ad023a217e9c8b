package plan

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestHistory: the oldest first, with what each changed, and who carries it.
func TestHistory(t *testing.T) {
	template := func(image string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": image}}}}
	}
	object := &kruise.CloneSet{}
	object.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{PodUpdatePolicy: kruise.CloneSetPodUpdateStrategyType(rules.PolicyInPlaceIfPossible)}
	pod := func(revision string) *cluster.Pod {
		return &cluster.Pod{Labels: map[string]string{cluster.RevisionLabel: revision}}
	}
	s := Snapshot{
		Workload:  &cluster.Workload{Ref: cluster.Ref{Kind: "CloneSet"}, Object: object, Template: template("app:2")},
		Revisions: []cluster.Revision{{Name: "web-b", Number: 2, Template: template("app:2")}, {Name: "web-a", Number: 1, Template: template("app:1")}},
		Pods:      []*cluster.Pod{pod("web-a"), pod("web-b"), pod("b"), {Deleting: true, Labels: map[string]string{cluster.RevisionLabel: "web-b"}}},
	}
	past := History(s)
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
	if back := Between(s, second.Revision, first.Revision); len(back.Fields) != 1 || back.Fields[0].New != "app:1" {
		t.Errorf("%+v", back)
	}
}
