package html_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

var about = html.About{Version: "v1.2.3", At: noon}

// planOf is a plan for three pods on two nodes: a canary, a pause, the rest.
func planOf(name string) plan.Plan {
	partition := func(n int) []plan.Patch {
		return []plan.Patch{{Type: "merge", Body: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"partition": n}}}}}
	}
	return plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: name, UID: "u1"},
		Driver: plan.DriverKruise,
		Change: plan.Change{
			FromRevision: "web-1", Mode: rules.ModeInPlace, Why: "every changed field can change in a running pod", Restarts: []string{"app"},
			Fields: []rules.FieldChange{{Path: "spec.containers[0].image", Old: "web:1", New: "web:2", Effect: rules.EffectImage}},
		},
		Limits: plan.Limits{Replicas: 3, MaxUnavailable: 1},
		Steps: []plan.Step{
			{
				Name: "update", Kind: plan.StepUpdate, Title: "update 1 of 3 pods", Patches: partition(2), Updated: 1, Kept: 2,
				Pods: []plan.PodStep{{Name: name + "-a", Node: "n1", Mode: rules.ModeInPlace}}, Timeout: plan.Duration(10 * time.Minute),
			},
			{Name: "pause-1", Kind: plan.StepPause, Title: "wait for approval", Pause: &plan.Pause{}},
			{
				Name: "step-100%", Kind: plan.StepPartition, Title: "update 2 more pods", Patches: partition(0), Updated: 3,
				Pods: []plan.PodStep{{Name: name + "-b", Node: "n1", Mode: rules.ModeInPlace}, {Name: name + "-c", Node: "n2", Mode: rules.ModeInPlace, Tie: 1}},
			},
		},
		Warnings: []string{"the budget web-pdb allows less than the plan"},
	}
}

// runOf is a run of planOf that waits at its pause.
func runOf(name string) *simulate.Timeline {
	return &simulate.Timeline{
		Start: noon,
		Records: []simulate.Record{
			{At: time.Second, Op: simulate.OpInPlace, Pod: name + "-a", Node: "n1"},
			{At: 10 * time.Second, Op: simulate.OpReady, Pod: name + "-a", Node: "n1"},
		},
		Samples: []simulate.Sample{{Old: 3, Wanted: 3}, {At: time.Second, Old: 2, NewDown: 1, Wanted: 3}, {At: 10 * time.Second, Old: 2, New: 1, Wanted: 3}},
		Steps: []simulate.StepMark{
			{Index: 0, Name: "update", Title: "update 1 of 3 pods", End: 10 * time.Second},
			{Index: 1, Name: "pause-1", Title: "wait for approval", Begin: 10 * time.Second, End: -1},
		},
		Summary: simulate.Summary{Outcome: simulate.Waiting, Duration: 20 * time.Second, MostDown: 1, MostPods: 3, Restarts: 1, Writes: 2},
	}
}

// recordOf is a rollout of planOf that stopped at its last step.
func recordOf(name string) plan.Record {
	rec := plan.Record{Plan: planOf(name), Begun: noon, By: "ann@host", Times: map[string]time.Time{
		"update": noon, "pause-1": noon.Add(time.Minute), "step-100%": noon.Add(6 * time.Minute),
	}}
	rec.Progress = plan.Progress{Step: 2, Started: noon.Add(6 * time.Minute), Failed: "deadline: step step-100% is not done after 10m"}
	rec.Entries = []plan.AuditEntry{
		{At: noon, By: "ann@host", Program: "kubectl-kruise v1.2.3", What: "begin", Detail: "3 steps"},
		{At: noon.Add(6 * time.Minute), By: "bob@host", What: string(plan.TransitionPromote), Detail: "pause-1"},
		{At: noon.Add(16 * time.Minute), By: "ann@host", What: plan.AuditHalt, Detail: "deadline"},
	}
	rec.Dropped = 2
	return rec
}

func changesOf(t *testing.T) view.Changes {
	t.Helper()
	dir := filepath.Join("..", "testdata", "changes")
	return view.Changes(compare.Run(t.Context(), golden.Read(t, dir, "old.yaml"), golden.Read(t, dir, "new.yaml"), compare.Options{
		Context: golden.Read(t, dir, "with.yaml"), Gates: cluster.DefaultGates(),
	}))
}

// written is a page as a string.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func planPage(name string) view.PlanPage {
	return view.NewPlanPage(planOf(name), runOf(name)).Place([]*cluster.Pod{
		{Name: name + "-c", Node: "n2", Labels: map[string]string{"apps.kruise.io/subset-name": "zone-b"}}, {Name: name + "-other", Node: "n2"},
	})
}

// pages are all kinds of pages.
func pages(t *testing.T) map[string]string {
	t.Helper()
	failing := runOf("web")
	failing.Summary.Outcome, failing.Summary.Reason = simulate.Failed, "deadline"
	return map[string]string{
		"plan": written(t, func(w io.Writer) error {
			return html.Plans(w, []html.Plan{{Page: planPage("web"), Digest: "sha256:0123"}}, about)
		}),
		"plans": written(t, func(w io.Writer) error {
			return html.Plans(w, []html.Plan{{Page: planPage("web")}, {Page: planPage("api")}}, about)
		}),
		"no plan":    written(t, func(w io.Writer) error { return html.Plans(w, nil, about) }),
		"simulation": written(t, func(w io.Writer) error { return html.Run(w, view.NewPlanPage(planOf("web"), failing), about) }),
		"diff":       written(t, func(w io.Writer) error { return html.Diff(w, changesOf(t).Page(), "old compared with new", about) }),
		"no diff": written(t, func(w io.Writer) error {
			return html.Diff(w, view.Changes{Objects: [2]int{1, 1}}.Page(), "old compared with new", about)
		}),
		"rollout": written(t, func(w io.Writer) error {
			return html.Record(w, view.NewRecordPage(recordOf("web"), "sha256:0123"), about)
		}),
	}
}

// hostilePages have a text wherever a manifest, a cluster or a user may set one; the word
// hostile tells that it is there.
func hostilePages(t *testing.T, text string) map[string]string {
	t.Helper()
	text = "hostile" + text
	p := planOf(text)
	p.Target.Namespace, p.Change.Why, p.Warnings = text, text, []string{text}
	p.Change.Fields[0].Path, p.Change.Fields[0].Old, p.Change.Fields[0].New = "spec."+text, text, map[string]any{text: text}
	for i := range p.Steps {
		p.Steps[i].Name, p.Steps[i].Title = fmt.Sprint(i, text), text
		for j := range p.Steps[i].Pods {
			p.Steps[i].Pods[j].Node = text
		}
	}
	run := runOf(text)
	for i := range run.Steps {
		run.Steps[i].Name, run.Steps[i].Title = fmt.Sprint(i, text), text
	}
	run.Summary.Reason = text
	rec := recordOf(text)
	rec.Plan, rec.By, rec.Progress.Failed = p, text, text
	for i := range rec.Entries {
		rec.Entries[i].By, rec.Entries[i].Detail, rec.Entries[i].Program = text, text, text
	}
	changes := changesOf(t)
	for i := range changes.Changes {
		changes.Changes[i].ID.Name = text
		for j := range changes.Changes[i].Fields {
			changes.Changes[i].Fields[j].Path, changes.Changes[i].Fields[j].Old, changes.Changes[i].Fields[j].New = text, text, []any{text}
		}
		for j := range changes.Changes[i].Effects {
			changes.Changes[i].Effects[j].Hint = text
		}
	}
	page := view.NewPlanPage(p, run).Place([]*cluster.Pod{{Name: text, Node: text, Labels: map[string]string{"apps.kruise.io/subset-name": text}}})
	return map[string]string{
		"plan":    written(t, func(w io.Writer) error { return html.Plans(w, []html.Plan{{Page: page, Digest: text}}, about) }),
		"plans":   written(t, func(w io.Writer) error { return html.Plans(w, []html.Plan{{Page: page}, {Page: page}}, about) }),
		"rollout": written(t, func(w io.Writer) error { return html.Record(w, view.NewRecordPage(rec, text), about) }),
		"diff":    written(t, func(w io.Writer) error { return html.Diff(w, changes.Page(), text, about) }),
	}
}

// TestPages_Text: what a reader without style and script sees. UPDATE=1 writes it.
func TestPages_Text(t *testing.T) {
	for name, page := range pages(t) {
		if name == "plans" {
			continue // twice the same
		}
		golden.Same(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt"), parse(t, page).text)
	}
}

// TestPages_MaskSecrets are masked, on the page and in its data.
func TestPages_MaskSecrets(t *testing.T) {
	p := planOf("web")
	env := func(value string) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "app", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": value}}, "args": []any{"--token", value}},
		}}}}}
	}
	p.Steps[0].Patches = []plan.Patch{{Type: "merge", Body: env("hunter2")}}
	p.Steps[2].Verify = &plan.Verify{Command: []string{"curl", "--password", "hunter2"}, URL: "https://user:hunter2@example.com/"}
	for name, page := range map[string]string{
		"plan": written(t, func(w io.Writer) error {
			return html.Plans(w, []html.Plan{{Page: view.NewPlanPage(p, runOf("web"))}}, about)
		}),
		"rollout": written(t, func(w io.Writer) error {
			rec := recordOf("web")
			rec.Plan, rec.Base = p, env("hunter1")
			return html.Record(w, view.NewRecordPage(rec, ""), about)
		}),
		"diff": pages(t)["diff"],
	} {
		for _, secret := range []string{"hunter", "aHVudGVy"} {
			if strings.Contains(page, secret) {
				t.Errorf("%s shows a secret", name)
			}
		}
		if !strings.Contains(page, "***") {
			t.Errorf("%s does not say that something is masked", name)
		}
	}
}
