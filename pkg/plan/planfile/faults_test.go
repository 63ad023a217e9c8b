package planfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

const small = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: RolloutPlan
metadata: {name: web}
spec:
  target: {apiVersion: apps/v1, kind: StatefulSet, name: web}
  driver: native
  change: {mode: recreate, why: w, fromHash: a, toHash: b}
  limits: {replicas: 3, maxUnavailable: 1}
  steps:
  - name: update
    kind: update
    title: t
    updated: 1
    kept: 2
    onFailure: pause
    timeout: 10m0s
    patches:
    - type: merge
      patch: {spec: {minReadySeconds: 1}}
`

func TestRead_ReportsFaultWithPlace(t *testing.T) {
	_, steps, _ := strings.Cut(small, "  steps:")
	if _, err := planfile.Read([]byte(small)); err != nil {
		t.Fatal("the plan that the cases spoil is no good itself:", err)
	}
	for name, c := range map[string]struct {
		old, new string
		path     string
		line     int
		msg      string
	}{
		"another version":          {"dev/v1alpha1", "dev/v1", "apiVersion", 1, `unknown version "kubectl-kruise.dev/v1"`},
		"no version":               {"apiVersion: kubectl-kruise.dev/v1alpha1\n", "", "apiVersion", 1, `no version ""`},
		"another kind":             {"RolloutPlan", "Rollout", "kind", 2, `unknown kind "Rollout"`},
		"unknown field":            {"kept: 2", "keept: 2", "spec.steps[0].keept", 14, "unknown field"},
		"text for number":          {"updated: 1", "updated: one", "spec.steps[0].updated", 13, ""},
		"no driver":                {"driver: native", "driver: me", "spec.driver", 6, `"me" is not known here`},
		"bad mode":                 {"mode: recreate", "mode: maybe", "spec.change.mode", 7, `"maybe" is not known here`},
		"no hash":                  {", toHash: b", "", "spec.change.toHash", 7, "a value is wanted"},
		"a kind of the past":       {"kind: update", "kind: scale", "spec.steps[0].kind", 11, "no step of a plan is of the kind scale any more"},
		"step kind":                {"kind: update", "kind: jump", "spec.steps[0].kind", 11, `"jump" is not known here`},
		"step name":                {"name: update", "name: a b", "spec.steps[0].name", 10, `"a b" is not a name of a step`},
		"on failure":               {"onFailure: pause", "onFailure: cry", "spec.steps[0].onFailure", 15, `"cry" is not known here`},
		"duration":                 {"10m0s", "10", "spec.steps[0].timeout", 16, ""},
		"duration text":            {"10m0s", "soon", "spec.steps[0].timeout", 16, ""},
		"negative":                 {"updated: 1", "updated: -1", "spec.steps[0].updated", 13, "-1 is too small"},
		"negative limit":           {"maxUnavailable: 1", "maxUnavailable: -1", "spec.limits.maxUnavailable", 8, "-1 is too small"},
		"negative surge":           {"maxUnavailable: 1", "maxUnavailable: 1, maxSurge: -1", "spec.limits.maxSurge", 8, "-1 is too small"},
		"patch type":               {"type: merge", "type: magic", "spec.steps[0].patches[0].type", 18, `"magic" is not known here`},
		"patch shape":              {"type: merge", "type: json", "spec.steps[0].patches[0].patch", 19, "this is no json patch"},
		"another field":            {"{spec: {minReadySeconds: 1}}", "{metadata: {labels: {a: b}}}", "spec.steps[0].patches[0]", 18, "a step of kind update may not write metadata.labels.a"},
		"not its step":             {"kind: update", "kind: partition", "spec.steps[0].patches[0]", 18, "a step of kind partition may not write spec.minReadySeconds"},
		"foreign part":             {"kept: 2", "kept: 2\n    pause: {}", "spec.steps[0].pause", 15, "it belongs to steps of kind pause"},
		"missing part":             {"kind: update", "kind: verify", "spec.steps[0].verify", 10, "a step of kind verify needs it"},
		"no steps":                 {"  steps:" + steps, "", "spec.steps", 5, "steps are wanted"},
		"twice":                    {"  - name: update", "  - {name: update, kind: update, title: t, updated: 0, kept: 0, onFailure: pause}\n  - name: update", "spec.steps[1].name", 11, `"update" is there twice`},
		"no name":                  {"kind: StatefulSet, name: web", "kind: StatefulSet", "spec.target.name", 5, "a value is wanted"},
		"the name of another":      {"metadata: {name: web", "metadata: {name: shop", "metadata.name", 3, `the plan is for "web", not "shop"`},
		"another namespace":        {"metadata: {name: web", "metadata: {name: web, namespace: a", "metadata.namespace", 3, `the plan is for "", not "a"`},
		"a command as a name":      {"kind: StatefulSet, name: web", "kind: StatefulSet, name: web;id", "spec.target", 5, `"web;id" is not a name of a workload`},
		"a command as a namespace": {"kind: StatefulSet, name: web", "kind: StatefulSet, namespace: $(id), name: web", "spec.target", 5, `"$(id)" is not a name of a namespace`},
		"a command as a kind":      {"kind: StatefulSet, name: web", "kind: 'a|id', name: web", "spec.target", 5, `"a|id" is not a kind`},
		"a command as a group":     {"apiVersion: apps/v1, ", "apiVersion: '`id`/v1', ", "spec.target", 5, "\"`id`\" is not an API group"},
		"duplicate key":            {"driver: native", "driver: native\n  driver: native", "", 7, ""},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		_, err := planfile.Read([]byte(text))
		var e *tree.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.path != "" && e.Path != c.path || e.Line != c.line || c.msg != "" && e.Msg != c.msg {
			t.Errorf("%s: path %q line %d: %s", name, e.Path, e.Line, e.Msg)
		}
	}
}

func TestRead_ReportsAllFaults(t *testing.T) {
	text := strings.NewReplacer("onFailure: pause", "onFailure: cry", "driver: native", "driver: me").Replace(small)
	_, err := planfile.Read([]byte(text))
	if err == nil || !strings.Contains(err.Error(), "cry") || !strings.Contains(err.Error(), `"me"`) {
		t.Errorf("%v", err)
	}
}

func TestRead_RefusesOtherDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a list": "[]", "two documents": small + "---\n" + small, "broken": "a: [", "a word": "plan", "a password": "a: *hunter2",
	} {
		if _, err := planfile.Read([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRead_AliasesAreWrittenOut: an alias means what it stands for, and a document grows by them to
// its own size and 100,000 values.
func TestRead_AliasesAreWrittenOut(t *testing.T) {
	again := strings.NewReplacer("metadata: {name: web}", "metadata: {name: &web web}", "title: t", "title: *web").Replace(small)
	p, err := planfile.Read([]byte(again))
	if err != nil || p.Steps[0].Title != "web" {
		t.Errorf("%v %+v", err, p.Steps)
	}
	bomb := small + "more: [&a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"
	for i := range 7 {
		bomb += fmt.Sprintf(", &a%d [%s*a%d]", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	_, err = planfile.Read([]byte(bomb + "]\n"))
	e, ok := errors.AsType[*tree.Error](err)
	if !ok || !strings.Contains(e.Msg, "aliases make the document grow") || e.Line != strings.Count(small, "\n")+1 {
		t.Errorf("%v", err)
	}
}

// FuzzRead: no text makes the reader panic, and what it takes it writes so that it
// takes it again.
func FuzzRead(f *testing.F) {
	distort.Fuzz(f, []string{small, string(written(f, everything())), strategy}, func(t *testing.T, data string) {
		t.Helper()
		if p, err := planfile.Read([]byte(data)); err == nil {
			text := written(t, p)
			again, err := planfile.Read(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if second := written(t, again); string(second) != string(text) {
				t.Fatalf("not stable:\n%s\n%s", text, second)
			}
		}
		_, _ = planfile.ReadPolicy([]byte(data))
	})
}
