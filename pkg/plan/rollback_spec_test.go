package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// TestRollback_ReturnsWhatCameWithTheTemplate: the number of pods and the reserved ordinals that a
// rollout wrote go back with the template, those that were changed later stay, and a user who knows the
// plan from a record alone approves both.
func TestRollback_ReturnsWhatCameWithTheTemplate(t *testing.T) {
	old := fmt.Sprintf(scalable["Advanced StatefulSet"], 4)
	next := strings.ReplaceAll(fmt.Sprintf(scalable["Advanced StatefulSet"], 3), "web:1", newer) + "  reserveOrdinals: [1]\n"
	w, ref := world(t, simulate.DefaultOptions(), old)
	p := built(t, w, ref, next, plan.Policy{OnFailure: plan.FailRollback})
	if d, story := drive(t, w, ref, p, nil); d.Verb != plan.Done {
		t.Fatal(strings.Join(story, "\n"))
	}
	s := observe(t, w, ref)
	s.Progress = plan.Progress{Step: len(p.Steps) - 1}
	want := "a failed step writes spec.replicas, spec.reserveOrdinals as the record has it"
	if got := p.NeedsApproval(s); !slices.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	checkRollback(t, p, observe(t, w, ref), 4, "go back to what was there before")

	if err := w.MergePatch(ref, map[string]any{"spec": map[string]any{"replicas": 6}}); err != nil {
		t.Fatal(err)
	}
	checkRollback(t, p, observe(t, w, ref), 6, "spec.replicas stays: it was changed after this rollout wrote it")
}

func checkRollback(t *testing.T, p plan.Plan, s plan.Snapshot, replicas int, warning string) {
	t.Helper()
	back, err := plan.Rollback(p, s, "it failed")
	if err != nil {
		t.Fatal(err)
	}
	out, err := back.Outcome(s.Object())
	if err != nil {
		t.Fatal(err)
	}
	n, _ := cluster.Of(out.Object).Replicas()
	if set := out.Object.(*kruise.StatefulSet); n != replicas || len(set.Spec.ReserveOrdinals) > 0 || set.Spec.Template.Spec.Containers[0].Image != "web:1" {
		t.Errorf("%d replicas, ordinals %v reserved", n, set.Spec.ReserveOrdinals)
	}
	if all := strings.Join(back.Warnings, "\n"); !strings.Contains(all, warning) {
		t.Errorf("no %q in\n%s", warning, all)
	}
}

// TestBuild_SaysWhatSurgingInPlaceCosts: each step surges again.
func TestBuild_SaysWhatSurgingInPlaceCosts(t *testing.T) {
	old := manifest(beta, "CloneSet", plain+"  replicas: 6\n  volumeClaimTemplates: [{metadata: {name: data}}]\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxSurge: 1}}\n")
	w, ref := world(t, simulate.DefaultOptions(), old)
	for steps, want := range map[string]string{
		"1,50%,100%": "which are deleted with 3 claims (data); each step surges again, so one step (--steps 100%) recreates 1; with maxSurge 0 none is",
		"100%":       "which are deleted with 1 claim (data); with maxSurge 0 none is",
	} {
		s, err := w.Snapshot(ref)
		if err != nil {
			t.Fatal(err)
		}
		p := outcome(t, strings.ReplaceAll(old, "web:1", newer), s, plan.Policy{Steps: must(plan.ParseSteps(steps))})
		if all := strings.Join(p.Warnings, "\n"); !strings.Contains(all, want) {
			t.Errorf("%s: no %q in\n%s", steps, want, all)
		}
	}
}
