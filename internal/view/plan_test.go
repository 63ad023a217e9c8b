package view

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// planOf is a plan for so many pods: pull, a canary, a pause, the rest.
func planOf(pods int) plan.Plan {
	step := func(from, to int) []plan.PodStep {
		var out []plan.PodStep
		for i := from; i < to; i++ {
			out = append(out, plan.PodStep{Name: fmt.Sprintf("web-%05d", i), Node: "n1", Mode: rules.ModeInPlace, Tie: min(i/3, 1)})
		}
		return out
	}
	partition := func(n int) []plan.Patch {
		return []plan.Patch{{Type: "merge", Body: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"partition": n}}}}}}
	}
	return plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web", UID: "u1"},
		Driver: plan.DriverKruise,
		Change: plan.Change{
			FromRevision: "web-6f6b7df74f", Mode: rules.ModeInPlace, Why: "every changed field can change in a running pod", Restarts: []string{"main"},
			Fields: []rules.FieldChange{image("registry.example.com/web:1.0", "registry.example.com/web:2.0")},
		},
		Limits: plan.Limits{Replicas: pods, MaxUnavailable: pods / 5, MinReady: plan.Duration(10 * time.Second)},
		Steps: []plan.Step{
			{Name: "pull", Kind: plan.StepPullImages, Title: "pull registry.example.com/web:2.0 on every node that runs a pod", Pull: &plan.Pull{Images: []string{"registry.example.com/web:2.0"}}},
			{
				Name: "1", Kind: plan.StepUpdate, Title: fmt.Sprintf("write the new template: 1 of %d pods", pods), Patches: partition(pods - 1), Pods: step(0, 1), Updated: 1, Kept: pods - 1,
				Before: []plan.Condition{{Type: plan.HoldsUID, Value: "u1"}}, After: []plan.Condition{{Type: plan.HoldsUpdatedAvailable, Value: "1"}, {Type: plan.HoldsSettled}},
				Timeout: plan.Duration(10 * time.Minute), OnFailure: plan.FailRollback,
			},
			{Name: "pause-1", Kind: plan.StepPause, Title: "wait for approval", Pause: &plan.Pause{}},
			{Name: "100%", Kind: plan.StepPartition, Title: fmt.Sprintf("the other %d pods", pods-1), Patches: partition(0), Pods: step(1, pods), Updated: pods},
		},
		Warnings: []string{"the budget web-pdb allows 1 pod less than the plan"},
	}
}

var predicted = simulate.Summary{Outcome: simulate.Completed, Duration: 200 * time.Second, MostDown: 1, MostPods: 5, Restarts: 5, Pulls: 2, Writes: 31}

// golden holds text against a file in testdata; UPDATE=1 writes it again.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		pods int
		st   Style
	}{
		"plan-5.txt": {5, Style{}}, "plan-5-full.txt": {5, Style{Full: true}}, "plan-2000.txt": {2000, Style{Width: 100}},
	} {
		var b bytes.Buffer
		if err := Plan(&b, planOf(c.pods), &predicted, c.st); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}

// TestPlan_FitsTheTerminal: 2,000 pods take no more lines than 5, and none is wider than
// the terminal.
func TestPlan_FitsTheTerminal(t *testing.T) {
	var few, many bytes.Buffer
	_ = Plan(&few, planOf(5), nil, Style{Width: 90})
	_ = Plan(&many, planOf(2000), nil, Style{Width: 90})
	if a, b := strings.Count(few.String(), "\n"), strings.Count(many.String(), "\n"); a != b {
		t.Errorf("%d and %d lines", a, b)
	}
	for line := range strings.Lines(many.String()) {
		if strings.Contains(line, "web-0") && len([]rune(line))-1 > 90 {
			t.Errorf("too wide: %s", line)
		}
	}
	if strings.Contains(many.String(), "predicted") {
		t.Error("an estimate appears that was not made")
	}
}

func TestPlanMarkdown(t *testing.T) {
	p := planOf(5)
	p.Change.Fields = append(p.Change.Fields, rules.FieldChange{Path: `metadata.annotations["a|b"]`, Old: "x`y", Effect: rules.EffectMetadata})
	p.Warnings = append(p.Warnings, "a <b> | c")
	var b bytes.Buffer
	if err := NewPlanPage(p, &simulate.Timeline{Summary: predicted}).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-5.md", b.String())
	var many bytes.Buffer
	if err := NewPlanPage(planOf(20_000), nil).Markdown(&many); err != nil || many.Len() > 60_000 {
		t.Errorf("%d bytes for 20,000 pods: a comment holds 65,536; %v", many.Len(), err)
	}
}

func TestRisks(t *testing.T) {
	base := func(change func(*plan.Plan)) plan.Plan {
		p := plan.Plan{Target: plan.Target{UID: "u"}, Limits: plan.Limits{Replicas: 10, MaxUnavailable: 2}}
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		p    plan.Plan
		want []string
	}{
		"some down": {base(func(*plan.Plan) {}), []string{"up to 2 of 10 pods (20%) are unavailable at a time"}},
		"none down": {base(func(p *plan.Plan) { p.Limits.MaxUnavailable = 0 }), []string{"no pod becomes unavailable"}},
		"all down":  {base(func(p *plan.Plan) { p.Limits.MaxUnavailable = 30 }), []string{"up to 10 of 10 pods (100%) are unavailable at a time"}},
		"no pods":   {base(func(p *plan.Plan) { p.Limits.Replicas = 0 }), []string{"there are no pods"}},
		"recreated": {base(func(p *plan.Plan) { p.Change.Mode = rules.ModeRecreate }), []string{"up to 2", "gets a new address"}},
		"in place":  {base(func(p *plan.Plan) { p.Change.Mode = rules.ModeInPlace }), []string{"up to 2", "drops its connections"}},
		"two pauses": {base(func(p *plan.Plan) {
			p.Steps = []plan.Step{{Pause: &plan.Pause{}}, {Pause: &plan.Pause{For: 1}}, {Pause: &plan.Pause{}}}
		}), []string{"up to 2", "2 steps wait for approval"}},
		"ties":         {base(func(p *plan.Plan) { p.Steps = []plan.Step{{Pods: []plan.PodStep{{Tie: 1}}}} }), []string{"up to 2", "~ marks"}},
		"are examples": {base(func(p *plan.Plan) { p.Target.UID = "" }), []string{"up to 2", "are examples"}},
		"own warning":  {base(func(p *plan.Plan) { p.Warnings = []string{"beware"} }), []string{"up to 2", "beware"}},
	} {
		page := NewPlanPage(c.p, nil)
		got := slices.Concat(page.Watch, page.Warnings)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}

func TestPatchCommand(t *testing.T) {
	own := plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	for want, p := range map[string]plan.Patch{
		`kubectl patch cloneset.v1beta1.apps.kruise.io/web -n shop --type merge -p '{"a":"it'\''s"}'`: {Body: map[string]any{"a": "it's"}},
		`kubectl patch deployment.v1.apps/api --subresource scale --type json -p '[]'`:                {Type: "json", Subresource: "scale", Body: []any{}, Target: &plan.Target{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"}},
		`kubectl patch pod/web-1 -n shop --type strategic -p 'null'`:                                  {Type: "strategic", Target: &plan.Target{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1"}},
	} {
		if got := patchCommand(&plan.Plan{Target: own}, p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestPlan_OfARestartHasOneRevision: a plan that restarts containers names them and the revision
// that the pods keep, in each format.
func TestPlan_OfARestartHasOneRevision(t *testing.T) {
	p := planOf(5)
	p.Change = plan.Change{FromRevision: "web-1", ToRevision: "web-1", Mode: rules.ModeInPlace, Why: "containers restart inside their pods", Restarts: []string{"main", "log"}}
	var text, markdown bytes.Buffer
	if err := errors.Join(Plan(&text, p, nil, Style{}), NewPlanPage(p, nil).Markdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  restart        main, log inside the pods; the template does not change\n", "\n  revision       web-1\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if want := "**restart main, log inside the pods; the template does not change**, by Kruise's controllers: containers restart"; !strings.Contains(markdown.String(), want) {
		t.Errorf("the Markdown lacks %q:\n%s", want, markdown.String())
	}
	for _, bad := range []string{"revisions", " to web-1", "  reason"} {
		if strings.Contains(text.String(), bad) {
			t.Errorf("the text has %q:\n%s", bad, text.String())
		}
	}
}

// TestPlan_WithoutReasonOrRevisions: a stand-in, another driver, no reason, no revisions.
func TestPlan_WithoutReasonOrRevisions(t *testing.T) {
	p := plan.Plan{
		Target: plan.Target{Kind: "CloneSet", Name: "web", Carrier: &plan.Target{Kind: "Deployment", Name: "web"}}, Driver: plan.DriverClient,
		Limits: plan.Limits{Replicas: 1, MaxSurge: 2}, Change: plan.Change{ToRevision: "web-2", Mode: rules.ModeUnchanged},
	}
	var b bytes.Buffer
	blocked := simulate.Summary{Outcome: simulate.Blocked, Reason: "no node has room", Duration: time.Minute}
	if err := Plan(&b, p, &blocked, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by this client, pod by pod", "runs as        deployment/web", "at most 2 pods above replicas", "(none) to web-2", "is blocked after 1m: no node has room"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
