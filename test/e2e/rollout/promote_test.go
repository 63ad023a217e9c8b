package rollout

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestPromote_PassesThePauseThatStatusShows: an executor that was killed after the last pod of a
// step became ready has not recorded the end of the step. Status shows the pause, so this is what
// a promotion passes: not the recorded step, whose checks it would skip.
func TestPromote_PassesThePauseThatStatusShows(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	b.begins(t, fair(t, b), 5, "rollout", "run", b.typed(), "--image", "main="+web2, "--steps", "1,50%,100%", "--pause-after", "all", "--pull-images", "never", "--exit-on-pause", "--yes")
	records := kube.Records{Client: b.Client()}
	rec, err := records.Change(t.Context(), b.object.Ref, "carla", func(r *plan.Record) error {
		r.Progress.Step, r.Progress.Sent = r.Progress.Step-1, len(r.Plan.Steps[r.Progress.Step-1].Patches)
		return nil
	})
	must(t, err)
	pause := rec.Plan.Steps[rec.Progress.Step+1].Name

	shown := b.call(t, "rollout", "status", b.typed(), "--watch=false")
	shown.Wants(t, 0)
	if !strings.Contains(shown.Out, "approval") {
		t.Fatalf("status shows no pause:\n%s", shown.Out)
	}
	if said := b.call(t, "rollout", "promote", b.typed(), "--dry-run=client"); !strings.Contains(said.Err, "promoted past step "+pause) {
		t.Errorf("a dry run says %q, want the step %s", said.Err, pause)
	}
	said := b.call(t, "rollout", "promote", b.typed(), "--no-wait")
	said.Wants(t, 0)
	if !strings.Contains(said.Err, "promoted past step "+pause) {
		t.Errorf("it says %q, want the step %s", said.Err, pause)
	}
	rec, err = records.Load(t.Context(), b.object.Ref)
	must(t, err)
	if rec.Progress.Promoted {
		t.Error("the checks of the recorded step are skipped")
	}
	b.begins(t, fair(t, b), 5, "rollout", "resume", b.typed(), "--exit-on-pause")
	if rec, err = records.Load(t.Context(), b.object.Ref); err != nil || rec.Present() == nil || rec.Present().Name == pause {
		t.Errorf("the rollout is at %v, past %s: %v", rec.Present(), pause, err)
	}
}

// TestPromote_ActsOnTheRecordWherePodsCannotBeRead: a person who may change records, and not read
// pods, cannot know more than the record does: they promote the step on record.
func TestPromote_ActsOnTheRecordWherePodsCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	b.begins(t, fair(t, b), 5, "rollout", "run", b.typed(), "--image", "main="+web2, "--steps", "1,50%,100%", "--pause-after", "all", "--pull-images", "never", "--exit-on-pause", "--yes")
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
