package planfile_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// everything is a plan with all that a plan can have.
func everything() plan.Plan {
	carrier := plan.Target{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web", UID: "u-2"}
	return plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web", UID: "u-1", Carrier: &carrier},
		Driver: plan.DriverClient,
		Change: plan.Change{
			FromRevision: "web-1", ToRevision: "web-2", FromHash: "aa", ToHash: "bb", Mode: rules.ModeInPlace, Why: "every changed field can change",
			Restarts: []string{"main"},
			Fields:   []rules.FieldChange{{Path: "spec.containers[0].image", Old: "web:1", New: "web:2", Effect: rules.EffectImage, Restarts: []string{"main"}, Why: "image"}},
		},
		Limits:   plan.Limits{Replicas: 10, MaxUnavailable: 2, MaxSurge: 1, MinReady: plan.Duration(5 * time.Second)},
		Warnings: []string{"no: really", "yes"}, RollbackReason: "crash web-3: it ends",
		Drain: plan.DrainLabel, Grace: plan.Duration(3 * time.Second), HookAnswer: plan.HookNever,
		Steps: []plan.Step{
			{
				Name: "pull", Kind: plan.StepPullImages, Title: "pull", OnFailure: plan.FailPause, Timeout: plan.Duration(10 * time.Minute), Kept: 10,
				Pull: &plan.Pull{Images: []string{"web:2"}, Parallel: 3}, After: []plan.Condition{{Type: plan.HoldsPulled, Value: "5"}},
			},
			{
				Name: "update", Kind: plan.StepUpdate, Title: "write", OnFailure: plan.FailRollback, Updated: 1, Kept: 9,
				Patches: []plan.Patch{
					{Target: &carrier, Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": "/spec/x", "value": "0123"}}},
					{Type: plan.PatchMerge, Reached: 3, Body: map[string]any{"spec": map[string]any{"count": int64(4), "ratio": 0.5, "off": nil, "list": []any{}, "map": map[string]any{}}}},
				},
				Pods:   []plan.PodStep{{Name: "web-a", UID: "p1", Node: "n1", Mode: rules.ModeRecreate, Tie: 2, Why: "not ready"}, {Name: "web-b", Mode: rules.ModeInPlace}},
				Before: []plan.Condition{{Type: plan.HoldsUID, Value: "u-1"}, {Type: plan.HoldsPartition, Value: "100%"}},
				After:  []plan.Condition{{Type: plan.HoldsSettled}},
			},
			{
				Name: "grow-4", Kind: plan.StepUpdate, Title: "grow", OnFailure: plan.FailAbort,
				Patches: []plan.Patch{{Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"replicas": int64(4)}}}},
			},
			{Name: "pause-10%", Kind: plan.StepPause, Title: "wait", OnFailure: plan.FailAbort, Pause: &plan.Pause{For: plan.Duration(90 * time.Second)}},
			{Name: "pause-2", Kind: plan.StepPause, Title: "wait", OnFailure: plan.FailAbort, Pause: &plan.Pause{}},
			{
				Name: "v1", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailAbort,
				Verify: &plan.Verify{URL: "http://x/?a=1&b=<2>", Status: 200, JSONPath: "{.ok}", Value: "true", Every: plan.Duration(time.Second), Attempts: 3},
			},
			{Name: "v2", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailAbort, Verify: &plan.Verify{Command: []string{"sh", "-c", "a\nb"}}},
			{Name: "v3", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailAbort, Verify: &plan.Verify{Prometheus: "http://p", Query: "up", Threshold: "< 0.01"}},
			{Name: "v4", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailAbort, Verify: &plan.Verify{Job: map[string]any{"kind": "Job"}}},
			{Name: "c", Kind: plan.StepRecreateContainers, Title: "restart", OnFailure: plan.FailAbort, Containers: &plan.Containers{Names: []string{"main"}, Method: "crr", RestartStrategy: plan.RestartStrategy{Ordered: true, Unready: plan.Duration(5 * time.Second)}}},
		},
	}
}

func written(tb testing.TB, p plan.Plan) []byte {
	tb.Helper()
	text, err := planfile.Write(p)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func TestWrite_IsReadBackEqual(t *testing.T) {
	want := everything()
	text := written(t, want)
	got, err := planfile.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	if again := written(t, got); !bytes.Equal(again, text) {
		t.Errorf("written again:\n%s", gocmp.Diff(string(text), string(again)))
	}
}

// TestWrite_EqualsGolden holds the format: it is a contract with people and their files.
func TestWrite_EqualsGolden(t *testing.T) {
	const file = "testdata/everything.yaml"
	got := written(t, everything())
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-%s +written:\n%s", file, diff)
	}
}

func TestWrite_PlanWithoutSteps(t *testing.T) {
	p := everything()
	p.Steps = nil
	got, err := planfile.Read(written(t, p))
	if err != nil || got.Steps != nil {
		t.Errorf("%v, %v", got.Steps, err)
	}
}

// TestRead_JSON: JSON is YAML.
func TestRead_JSON(t *testing.T) {
	const text = `{"apiVersion": "kubectl-kruise.dev/v1alpha1", "kind": "RolloutPlan", "metadata": {"name": "w"}, "spec": {
		"target": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}, "driver": "native",
		"change": {"mode": "unchanged", "why": "", "fromHash": "a", "toHash": "a"}, "limits": {"replicas": 1, "maxUnavailable": 1}, "steps": []}}`
	if p, err := planfile.Read([]byte(text)); err != nil || p.Target.Kind != "Deployment" {
		t.Errorf("%+v, %v", p, err)
	}
}
