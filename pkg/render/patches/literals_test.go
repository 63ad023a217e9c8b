package patches_test

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return tree.Root(&n)
}

// TestLiterals: a value that sounds secret is warned of where a patch holds it, and
// never shown.
func TestLiterals(t *testing.T) {
	env := func(list string) string {
		return "{spec: {template: {spec: {containers: [{name: app, env: " + list + "}]}}}}"
	}
	whole := []patches.Step{{Patch: &patches.Patch{Body: []any{map[string]any{"op": "add", "value": []any{map[string]any{"name": "API_TOKEN", "value": "x"}}}}}}}
	for name, c := range map[string]struct {
		steps    []patches.Step
		old, new string
		want     int
	}{
		"none":          {nil, env("[]"), env("[{name: LEVEL, value: debug}]"), 0},
		"new":           {nil, env("[]"), env("[{name: DB_PASSWORD, value: hush}]"), 1},
		"changed":       {nil, env("[{name: db_password, value: hush}]"), env("[{name: db_password, value: hush2}]"), 1},
		"the same":      {nil, env("[{name: DB_PASSWORD, value: hush}]"), env("[{name: DB_PASSWORD, value: hush}, {name: A, value: b}]"), 0},
		"from a Secret": {nil, env("[]"), env("[{name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: p}}}]"), 0},
		"replaced":      {whole, env("[]"), env("[]"), 1},
	} {
		got := patches.Literals(c.steps, node(t, c.old), node(t, c.new))
		if len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
		for _, line := range got {
			if !contains(line, "keep the folder") || contains(line, "hush") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// TestMetadata: what goes is removed, and what kubectl keeps is not looked at.
func TestMetadata(t *testing.T) {
	object := func(labels, annotations string) *tree.Node {
		return node(t, "{metadata: {labels: "+labels+", annotations: "+annotations+"}}")
	}
	for name, c := range map[string]struct {
		old, new *tree.Node
		want     string
	}{
		"the same":     {object("{a: b}", "{}"), object("{a: b}", "null"), ""},
		"last applied": {object("{}", `{kubectl.kubernetes.io/last-applied-configuration: "{}"}`), object("{}", "{}"), ""},
		"all":          {object("{a: b, c: d}", "{x: y}"), object("{a: c, e: f}", "{}"), `{"metadata":{"annotations":{"x":null},"labels":{"a":"c","c":null,"e":"f"}}}`},
	} {
		s := patches.Metadata(web, c.old, c.new)
		got := ""
		if s != nil {
			got = jsonOf(t, s.Body)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
