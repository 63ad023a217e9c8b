package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// FuzzPartition: no partition is less than none or more than all.
func FuzzPartition(f *testing.F) {
	for _, text := range []string{"0", "-1", "2147483647", "50%", "101%", "-5%", "%", "1e9%", "NaN%", "0.1%", "９%", "99999999999999999999"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, total int) {
		total = min(max(total, 0), 1<<31-1)
		for _, p := range []intstr.IntOrString{intstr.Parse(text), intstr.FromString(text)} {
			if n := Partition(&p, total); n < 0 || n > total {
				t.Errorf("%q of %d is %d", text, total, n)
			}
			if n := DaemonSetPartition(&p, total); n < 0 {
				t.Errorf("%q of %d is %d", text, total, n)
			}
		}
	})
}

// FuzzMask: no body panics or is changed itself, and no value of a Secret is shown,
// whatever shape it has.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"kind": "Secret", "data": {"a": "b"}, "metadata": {"annotations": {"a": 1}}}`))
	f.Add([]byte(`[{"op": "add", "path": "/spec/template/spec/containers/0/env/0/value", "value": {"a": []}}]`))
	f.Add([]byte(`[{"op": "add", "path": "/metadata/annotations/a~1token", "value": 1}, {"path": ""}, {"path": "/"}, [], null]`))
	f.Add([]byte(`{"metadata": [], "data": null, "env": [{"name": "TOKEN", "value": {}}], "args": ["--password"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var body, value any
		if json.Unmarshal(text, &body) != nil {
			return
		}
		before, _ := json.Marshal(body)
		_ = MaskPatch(body, nil)
		if after, _ := json.Marshal(body); string(after) != string(before) {
			t.Errorf("%s became %s", before, after)
		}
		_ = json.Unmarshal([]byte(strings.ReplaceAll(string(before), `"`, `"zebra-`)), &value)
		shown, _ := json.Marshal(MaskPatch(map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "a"}, "data": values(value), "stringData": values(value)}, nil))
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
