package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// TestObject_HidesWhatIsSecret: nothing secret is left of an object, and all else is.
func TestObject(t *testing.T) {
	type m = map[string]any
	template := m{
		"metadata": m{"labels": m{"app": "web", "api-token": "t1"}},
		"spec":     m{"containers": []any{m{"env": []any{m{"name": "DB_PASSWORD", "value": "p1"}, m{"name": "MODE", "value": "fast"}}, "args": []any{"--token", "t2"}}}},
	}
	maskedTemplate := m{
		"metadata": m{"labels": m{"app": "web", "api-token": Masked}},
		"spec":     m{"containers": []any{m{"env": []any{m{"name": "DB_PASSWORD", "value": Masked}, m{"name": "MODE", "value": "fast"}}, "args": []any{"--token", Masked}}}},
	}
	secret := m{"kind": "Secret", "metadata": m{"name": "db", "annotations": m{corev1.LastAppliedConfigAnnotation: `{"data":{"a":"c2VjcmV0"}}`}}, "data": m{"a": "c2VjcmV0"}, "stringData": m{"b": "x"}}
	maskedSecret := m{"kind": "Secret", "metadata": m{"name": "db", "annotations": m{corev1.LastAppliedConfigAnnotation: Masked}}, "data": m{"a": Masked}, "stringData": m{"b": Masked}}
	for name, c := range map[string]struct{ in, want m }{
		"template":      {template, maskedTemplate},
		"workload":      {m{"kind": "CloneSet", "spec": m{"replicas": 2, "template": template}}, m{"kind": "CloneSet", "spec": m{"replicas": 2, "template": maskedTemplate}}},
		"secret":        {secret, maskedSecret},
		"distribution":  {m{"spec": m{"resource": secret}}, m{"spec": m{"resource": maskedSecret}}},
		"empty secret":  {m{"kind": "Secret"}, m{"kind": "Secret"}},
		"broken secret": {m{"kind": "Secret", "data": "c2VjcmV0"}, m{"kind": "Secret", "data": Masked}},
		"list":          {m{"kind": "List", "items": []any{secret, "odd"}}, m{"kind": "List", "items": []any{maskedSecret, "odd"}}},
		"nothing":       {m{}, m{}},
		"config map":    {m{"kind": "ConfigMap", "data": m{"url": "https://u:p@h/"}}, m{"kind": "ConfigMap", "data": m{"url": "https://u:" + Masked + "@h/"}}},
		"odd metadata":  {m{"metadata": "x", "spec": []any{}}, m{"metadata": "x", "spec": []any{}}},
		"status":        {m{"status": m{"replicas": 1}}, m{"status": m{"replicas": 1}}},
	} {
		if diff := cmp.Diff(c.want, Object(c.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if template["metadata"].(m)["labels"].(m)["api-token"] != "t1" {
		t.Error("the object itself was changed")
	}
}

// TestPatch_HidesWhatIsSecret: neither a patch nor an object of any shape shows what is secret
// in it, and the rest stays.
func TestPatch_HidesWhatIsSecret(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a Secret":             {`{"kind": "Secret", "data": {"a": "~"}, "stringData": {"b": "~"}}`, `{"kind": "Secret", "data": {"a": "***"}, "stringData": {"b": "***"}}`},
		"a copy of one":        {`{"kind": "ConfigMap", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "~"}}, "data": {"a": "b"}}`, `{"kind": "ConfigMap", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "***"}}, "data": {"a": "b"}}`},
		"a merge patch":        {`{"data": {"a": "~"}}`, `{"data": {"a": "***"}}`},
		"one of a distributor": {`{"spec": {"resource": {"stringData": {"a": "~"}}, "n": 1}}`, `{"spec": {"resource": {"stringData": {"a": "***"}}, "n": 1}}`},
		"a server's list":      {`{"kind": "SecretList", "items": [{"data": {"a": "~"}}]}`, `{"kind": "SecretList", "items": [{"data": {"a": "***"}}]}`},
		"odd data":             {`{"data": ["~"]}`, `{"data": "***"}`},
		"operations": {
			`[{"op": "add", "path": "/data/a", "value": "~"}, {"op": "replace", "path": "/spec/replicas", "value": 3}, {"op": "remove", "path": "/data/b"}]`,
			`[{"op": "add", "path": "/data/a", "value": "***"}, {"op": "replace", "path": "/spec/replicas", "value": 3}, {"op": "remove", "path": "/data/b"}]`,
		},
		"a list of variables": {
			`[{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "TOKEN", "value": "~"}, {"name": "A", "value": "b"}]}]`,
			`[{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "TOKEN", "value": "***"}, {"name": "A", "value": "b"}]}]`,
		},
		"a variable": {
			`[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "~"}, {"op": "test", "path": "/spec/template/spec/containers/0/args/1", "value": "~"}]`,
			`[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "***"}, {"op": "test", "path": "/spec/template/spec/containers/0/args/1", "value": "***"}]`,
		},
		"an open variable": {
			`[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "open"}]`,
			`[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "open"}]`,
		},
		"annotations": {
			`[{"op": "add", "path": "/spec/template/metadata/annotations/example.com~1token", "value": "~"}, {"op": "add", "path": "/spec/template/metadata/annotations", "value": {"token": "~", "a": "b"}}]`,
			`[{"op": "add", "path": "/spec/template/metadata/annotations/example.com~1token", "value": "***"}, {"op": "add", "path": "/spec/template/metadata/annotations", "value": {"token": "***", "a": "b"}}]`,
		},
		"a value at the root": {`[{"op": "add", "path": "", "value": {"data": {"a": "~"}}}]`, `[{"op": "add", "path": "", "value": {"data": {"a": "***"}}}]`},
		"no operation":        {`[1, {"path": 2, "value": {"kind": "Secret", "data": {"a": "~"}}}]`, `[1, {"path": 2, "value": {"kind": "Secret", "data": {"a": "***"}}}]`},
		"null":                {`null`, `null`},
	} {
		var body, want any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(c.body, "~\"", "hunter2\"")), &body); err != nil {
			t.Fatal(name, err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(name, err)
		}
		before, _ := json.Marshal(body)
		got := Patch(body, func(v any) bool { return v == "open" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if after, _ := json.Marshal(body); string(after) != string(before) {
			t.Errorf("%s: the body itself was changed: %s", name, after)
		}
	}
}

// FuzzPatch: no body panics or is changed itself, and no value of a Secret is shown,
// whatever shape it has.
func FuzzPatch(f *testing.F) {
	texts := []string{
		`{"kind": "Secret", "data": {"a": "b"}, "metadata": {"annotations": {"a": 1}}}`,
		`[{"op": "add", "path": "/spec/template/spec/containers/0/env/0/value", "value": {"a": []}}]`,
		`[{"op": "add", "path": "/metadata/annotations/a~1token", "value": 1}, {"path": ""}, {"path": "/"}, [], null]`,
		`{"metadata": [], "data": null, "env": [{"name": "TOKEN", "value": {}}], "args": ["--password"]}`,
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var body, value any
		if json.Unmarshal([]byte(text), &body) != nil {
			return
		}
		before, _ := json.Marshal(body)
		_ = Patch(body, nil)
		if after, _ := json.Marshal(body); string(after) != string(before) {
			t.Errorf("%s became %s", before, after)
		}
		_ = json.Unmarshal([]byte(strings.ReplaceAll(string(before), `"`, `"zebra-`)), &value)
		shown, _ := json.Marshal(Patch(map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "a"}, "data": values(value), "stringData": values(value)}, nil))
		if strings.Contains(string(shown), "zebra-") {
			t.Errorf("%s", shown)
		}
	})
}

// values is any value as Secrets hold it, or as they should not.
func values(v any) any {
	if m, ok := v.(map[string]any); ok {
		out := map[string]any{}
		for _, item := range m {
			out["a"] = item
		}
		return out
	}
	return v
}
