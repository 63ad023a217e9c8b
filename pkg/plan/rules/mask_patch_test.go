package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPatchesAreMasked: neither a patch nor an object of any shape shows what is secret
// in it, and the rest stays.
func TestPatchesAreMasked(t *testing.T) {
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
		got := MaskPatch(body, func(v any) bool { return v == "open" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if after, _ := json.Marshal(body); string(after) != string(before) {
			t.Errorf("%s: the body itself was changed: %s", name, after)
		}
	}
}
