package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestUndo: all pods go to the older template, whatever partition an ended rollout has
// left, and a revision that is not on record is an error.
func TestUndo(t *testing.T) {
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
