package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStatusWide_ListsRolloutsInProgress: without a name, what is in progress is listed, with its step and what it
// waits for; what is complete is not.
func TestStatusWide_ListsRolloutsInProgress(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+cloneSet("done", ""), webCloneSet)
	b.await(t, kruiseV1, "CloneSet", "done", ready)
	b.call(t, "rollout", "status").ends(t, 0, "no rollouts in progress; workloads up to date: 2")
	b.call(t, "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:2", "--steps", "1,100%", "--pause-after", "1", "--pull-images", "never", "--exit-on-pause", "--yes").ends(t, 5)
	b.Apply(t, b.namespace, workload("apps/v1", "Deployment", "stuck", "")+"\n")
	b.await(t, "apps/v1", "Deployment", "stuck", ready)
	b.Apply(t, b.namespace, strings.Replace(workload("apps/v1", "Deployment", "stuck", ""), "spec: {containers", "spec: {nodeSelector: {no: where}, containers", 1))
	a := b.call(t, "rollout", "status").ends(t, 0, "NAMESPACE", "cloneset/web", "step 2 of 3", "deployment/stuck", "blocked")
	if strings.Contains(a.out, "done") {
		t.Errorf("what is complete is listed:\n%s", a.out)
	}
	b.call(t, "rollout", "status", "deployment", "-A").ends(t, 0, b.namespace, "deployment/stuck")
	var rows []struct{ Name, Namespace, State, Reason string }
	must(t, json.Unmarshal([]byte(b.call(t, "rollout", "status", "cloneset,asts", "-o", "json").ends(t, 0).out), &rows))
	if len(rows) != 1 || rows[0].Reason == "" {
		t.Fatalf("%+v", rows)
	}
	rows[0].Reason = ""
	if diff := cmp.Diff(rows[0], struct{ Name, Namespace, State, Reason string }{"cloneset/web", b.namespace, "wait", ""}); diff != "" {
		t.Error(diff)
	}
	b.call(t, "rollout", "abort", "cloneset/web").ends(t, 0)
	b.call(t, "rollout", "status").ends(t, 3, "aborted at step 2 of 3")
}
