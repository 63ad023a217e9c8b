package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestMaskObject: nothing secret is left of an object, and all else is.
func TestMaskObject(t *testing.T) {
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
		if diff := cmp.Diff(c.want, MaskObject(c.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if template["metadata"].(m)["labels"].(m)["api-token"] != "t1" {
		t.Error("the object itself was changed")
	}
}
