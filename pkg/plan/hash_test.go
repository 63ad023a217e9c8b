package plan

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func template(t *testing.T, text string) map[string]any {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := tree.Value(n.YNode()).(map[string]any)
	return v
}

// TestTemplateHashIsSameTemplate: two templates have the same hash exactly when
// they make the same revision.
func TestTemplateHashIsSameTemplate(t *testing.T) {
	texts := []string{
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}, creationTimestamp: null}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {n: 1.0, containers: [{image: i, name: m}]}}",
		"{metadata: {labels: {a: b}, annotations: null}, spec: {containers: [{name: m, image: i, env: null}], n: 1}}",
		"{metadata: {labels: {a: b}, annotations: {}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: c}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i, env: []}], n: 1}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: 2}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: '1'}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: true}}",
		"{spec: {}}", "{}", "{metadata: {}}",
	}
	for i, a := range texts {
		for j, b := range texts {
			x, y := template(t, a), template(t, b)
			if same, hash := rules.SameTemplate(x, y), TemplateHash(x) == TemplateHash(y); same != hash && (i < 10 || j < 10) {
				t.Errorf("%s and %s: same %v, same hash %v", a, b, same, hash)
			}
		}
	}
}

// TestTemplateHashIsStable: plans in Git are pinned by it.
func TestTemplateHashIsStable(t *testing.T) {
	v := template(t, "{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: 'i:1'}], terminationGracePeriodSeconds: 30}}")
	if got := TemplateHash(v); got != "563ac303a153d4e7" {
		t.Errorf("the hash of all times is now %s", got)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if TemplateHash(again) != TemplateHash(v) {
		t.Error("another decoder, another hash")
	}
}

func TestTemplateHashOfNothing(t *testing.T) {
	if TemplateHash(nil) != TemplateHash(map[string]any{}) {
		t.Error("nothing is not the same as empty")
	}
}

// TestTemplateOfASidecarSet: a change of its strategy is no new template.
func TestTemplateOfASidecarSet(t *testing.T) {
	w := &cluster.Workload{Object: &kruise.SidecarSet{}, Template: template(t, "{containers: [{name: m}], updateStrategy: {partition: 3}, volumes: null}")}
	before := hashOf(w)
	w.Template["updateStrategy"] = map[string]any{"partition": 0}
	if hashOf(w) != before {
		t.Error("the partition counts")
	}
	w.Template["containers"] = []any{}
	if hashOf(w) == before {
		t.Error("containers do not count")
	}
}
