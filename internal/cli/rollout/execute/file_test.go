package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// groupOfTwo is a group with a dependency across namespaces.
func groupOfTwo(tb testing.TB) plan.Rollout {
	tb.Helper()
	planOf := func(namespace, name string) plan.Plan {
		return plan.Plan{
			Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: namespace, Name: name, UID: "u"}, Driver: plan.DriverKruise,
			Change: plan.Change{Mode: rules.ModeRecreate, FromHash: "a", ToHash: "b"},
			Limits: plan.Limits{Replicas: 3, MaxUnavailable: 1},
			Steps:  []plan.Step{{Name: "update", Kind: plan.StepUpdate, Title: "update 3 pods", Updated: 3, OnFailure: plan.FailPause, Timeout: plan.Duration(time.Minute), Patches: []plan.Patch{{Type: plan.PatchJSON, Body: []any{map[string]any{"op": "add", "path": "/spec/template", "value": "---\n---"}}}}}},
		}
	}
	web, api := planOf("shop", "web"), planOf("other", "api")
	return plan.Rollout{
		Namespace: "shop", Name: "all", Bounds: plan.Bounds{Parallel: 3, MaxUnavailable: 4, MaxFailures: 1},
		Members: []plan.Member{{Ref: web.Target.Ref(), Plan: web, Wave: 2, DependsOn: []cluster.Ref{api.Target.Ref()}}, {Ref: api.Target.Ref(), Plan: api, Wave: -1}},
	}
}

// TestFile_Reads: a group is read as it was written, with the same digest.
func TestFile_Reads(t *testing.T) {
	rec := groupOfTwo(t)
	text, err := writeRollout(&rec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRollout(file, "all")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(rec, got); diff != "" {
		t.Error(diff)
	}
	if got.Digest("c") != rec.Digest("c") || got.Namespace != "shop" || got.Name != "all" {
		t.Errorf("%s %s/%s", got.Digest("c"), got.Namespace, got.Name)
	}
}

// TestFile_Refuses: a file that is no group, or was edited so that it makes no sense.
func TestFile_Refuses(t *testing.T) {
	text, err := writeRollout(new(groupOfTwo(t)))
	if err != nil {
		t.Fatal(err)
	}
	onePlan, err := planfile.Write(groupOfTwo(t).Members[0].Plan)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a plan":           {string(onePlan), "has no group of rollouts"},
		"another kind":     {strings.Replace(string(text), "kind: RolloutGroup", "kind: Rollouts", 1), `it is a "Rollouts"`},
		"an unknown field": {strings.Replace(string(text), "limits:", "more: 1\nlimits:", 1), "more"},
		"a plan is gone":   {string(text[:strings.LastIndex(string(text), documentEnd)]), "members: 2, plans: 1"},
		"another workload": {strings.Replace(string(text), "name: api", "name: apu", 1), "has no group of rollouts"},
	} {
		file := filepath.Join(t.TempDir(), "plan.yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRollout(file, "all"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRolloutFile: whatever the file of a group holds, it is a group or a fault, and one that is
// taken is written as it is read.
func FuzzRolloutFile(f *testing.F) {
	good, err := writeRollout(new(groupOfTwo(f)))
	if err != nil {
		f.Fatal(err)
	}
	head, _, _ := strings.Cut(string(good), documentEnd)
	distort.Fuzz(f, []string{string(good), head + documentEnd + "{}", head}, func(t *testing.T, text string) {
		t.Helper()
		rec, err := parseGroup([]byte(text))
		if err != nil {
			return
		}
		again, err := writeRollout(&rec)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseGroup(again); err != nil || got.Digest("c") != rec.Digest("c") {
			t.Errorf("%v\n%s", err, again)
		}
	})
}
