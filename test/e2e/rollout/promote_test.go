package rollout

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestPromote_ActsOnTheRecordWherePodsCannotBeRead: a person who may change records, and not read
// pods, cannot know more than the record does: they promote the step on record.
func TestPromote_ActsOnTheRecordWherePodsCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	b.call(t, "rollout", "run", b.typed(), "--image", "main="+web2, "--steps", "1,50%,100%", "--pause-after", "all", "--pull-images", "never", "--exit-on-pause", "--yes").Wants(t, 5)
	records := kube.Records{Client: b.Client()}
	rec, err := records.Change(t.Context(), b.object.Ref, "carla", func(r *plan.Record) error {
		r.Progress.Step, r.Progress.Sent = r.Progress.Step-1, len(r.Plan.Steps[r.Progress.Step-1].Patches)
		return nil
	})
	must(t, err)
	approver := kubeconfig(t, b.person(t, "approver", func(text string) string {
		less := strings.ReplaceAll(text, "  - events\n  - pods\n", "  - events\n")
		if less == text {
			t.Error("the role has nothing to take away")
		}
		return less
	}, "--role", "approve", "--name", b.namespace+"-approver", "--in", b.namespace))
	code, out, said := fromAs(t, b, approver, t.TempDir(), "rollout", "promote", b.typed(), "--no-wait")
	if recorded := rec.Present().Name; code != 0 || !strings.Contains(said, "promoted past step "+recorded) {
		t.Errorf("exit %d: %s%s, want the step %s", code, out, said, recorded)
	}
}
