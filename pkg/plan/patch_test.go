package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// TestSpecPatch_IsMinimalAndExact: minimal where that helps a reader, exact everywhere.
func TestSpecPatch_IsMinimalAndExact(t *testing.T) {
	const pod = `{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: 'i:1', env: [{name: A, value: x}]}, {name: s, image: 's:1'}]}}, minReadySeconds: 3}`
	for name, c := range map[string]struct{ old, new, want string }{
		"nothing": {pod, pod, "[]"},
		"image": {
			pod, `{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: 'i:1', env: [{name: A, value: x}]}, {name: s, image: 's:2'}]}}, minReadySeconds: 3}`,
			"[test /spec/template/spec/containers/1/image s:1, add /spec/template/spec/containers/1/image s:2]",
		},
		"env value": {
			pod, `{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: 'i:1', env: [{name: A, value: z}]}, {name: s, image: 's:1'}]}}, minReadySeconds: 3}`,
			"[add /spec/template/spec/containers/0/env/0/value z]",
		},
		"label": {
			pod, `{template: {metadata: {labels: {c/d: e~f}}, spec: {containers: [{name: m, image: 'i:1', env: [{name: A, value: x}]}, {name: s, image: 's:1'}]}}, minReadySeconds: 3}`,
			"[remove /spec/template/metadata/labels/a, add /spec/template/metadata/labels/c~1d e~f]",
		},
		"fewer containers": {
			pod, `{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: s, image: 's:1'}]}}, minReadySeconds: 3}`,
			"[add /spec/template/spec/containers [map[image:s:1 name:s]]]",
		},
		"other fields": {
			`{a: {b: 1}, c: 2, template: {}}`, `{a: {b: 2, c: 3}, d: [1], template: {}}`,
			"[add /spec/a map[b:2 c:3], remove /spec/c, add /spec/d [1]]",
		},
		"scalars in lists": {
			`{template: {spec: {containers: [{args: [x, y]}]}}}`, `{template: {spec: {containers: [{args: [x, z]}]}}}`,
			"[replace /spec/template/spec/containers/0/args/1 z]",
		},
		"nulls are nothing": {`{a: null, template: {metadata: {annotations: null}}}`, `{template: {metadata: {}}}`, "[]"},
		"shape":             {`{template: {spec: {x: {y: 1}}}}`, `{template: {spec: {x: [1]}}}`, "[add /spec/template/spec/x [1]]"},
	} {
		t.Run(name, func(t *testing.T) {
			old, updated := template(t, c.old), template(t, c.new)
			ops := specPatch(old, updated)
			var got []string
			for _, op := range ops {
				m := op.(map[string]any)
				text := fmt.Sprintf("%s %s", m["op"], m["path"])
				if v, ok := m["value"]; ok {
					text += fmt.Sprintf(" %v", v)
				}
				got = append(got, text)
			}
			if text := joined(got); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
			if diff := gocmp.Diff(without(updated), applied(t, old, ops)); diff != "" {
				t.Errorf("-want +patched:\n%s", diff)
			}
		})
	}
}

func joined(list []string) string {
	out := "["
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out + "]"
}

// applied is the spec after the operations, as another program makes it.
func applied(t *testing.T, spec map[string]any, ops []any) any {
	t.Helper()
	if len(ops) == 0 {
		return without(spec)
	}
	patch := must(jsonpatch.DecodePatch(must(json.Marshal(ops))))
	doc := must(patch.Apply(must(json.Marshal(map[string]any{"spec": spec}))))
	var out struct{ Spec map[string]any }
	if err := json.Unmarshal(doc, &out); err != nil {
		t.Fatal(err)
	}
	return without(out.Spec)
}

// without is decoded JSON without nulls, and with one type of numbers.
func without(v map[string]any) any {
	var clean func(any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, item := range v {
				if item != nil {
					out[k] = clean(item)
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = clean(v[i])
			}
			return out
		case int64:
			return float64(v)
		}
		return v
	}
	return clean(v)
}

// TestInForce_ComparesWithTheObject: what a patch writes is there, or it is not.
func TestInForce_ComparesWithTheObject(t *testing.T) {
	doc := map[string]any{"spec": template(t, `{replicas: 3, paused: true, strategy: {partition: 50%, list: [a, {b: c}]}, labels: {x/y: z}}`)}
	for body, want := range map[string]bool{
		`{spec: {replicas: 3}}`:                         true,
		`{spec: {replicas: 4}}`:                         false,
		`{spec: {strategy: {partition: 50%}}}`:          true,
		`{spec: {strategy: {partition: null}}}`:         false,
		`{spec: {gone: null}}`:                          true,
		`{spec: {gone: false}}`:                         true,
		`{spec: {gone: true}}`:                          false,
		`{spec: {paused: false}}`:                       false,
		`{spec: {gone: {deeper: null}}}`:                true,
		`{spec: {replicas: {deeper: 1}}}`:               false,
		`{spec: {strategy: {list: [a, {b: c}]}}}`:       true,
		`{spec: {strategy: {list: [a]}}}`:               false,
		`{spec: {strategy: {list: [a, {b: c}]}, a: 1}}`: false,
	} {
		if got := mergeInForce(doc, template(t, body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	for op, want := range map[string]bool{
		`{op: add, path: /spec/replicas, value: 3}`:             true,
		`{op: add, path: /spec/replicas, value: 3.0}`:           true,
		`{op: replace, path: /spec/replicas, value: 4}`:         false,
		`{op: remove, path: /spec/gone}`:                        true,
		`{op: remove, path: /spec/paused}`:                      false,
		`{op: test, path: /spec/replicas, value: 9}`:            true,
		`{op: add, path: /spec/strategy/list/1/b, value: c}`:    true,
		`{op: add, path: /spec/strategy/list/7/b, value: c}`:    false,
		`{op: add, path: /spec/strategy/list/-/b, value: c}`:    false,
		`{op: add, path: /spec/labels/x~1y, value: z}`:          true,
		`{op: add, path: /spec/replicas/deeper, value: nobody}`: false,
		// what the server adds to what was written is no reason to write it again
		`{op: add, path: /spec/strategy, value: {partition: 50%}}`:          true,
		`{op: add, path: /spec/strategy, value: {partition: 40%}}`:          false,
		`{op: add, path: /spec/strategy, value: {list: [a, {}]}}`:           true,
		`{op: add, path: /spec/strategy, value: {list: [a]}}`:               false,
		`{op: add, path: /spec/strategy/list, value: [{b: c}, a]}`:          false,
		`{op: add, path: /spec/replicas, value: {}}`:                        false,
		`{op: add, path: /spec/strategy, value: {partition: 50%, gone: 1}}`: false,
	} {
		if got := operationInForce(doc, template(t, op)); got != want {
			t.Errorf("%s: %v", op, got)
		}
	}
}

// TestPatchFields_ListsLeaves: a field a line, what is required before it is written beside it, and
// nothing that is likely to be secret.
func TestPatchFields_ListsLeaves(t *testing.T) {
	object := func(path string, v any) map[string]any { return map[string]any{"op": "add", "path": path, "value": v} }
	p := &Plan{}
	for name, c := range map[string]struct {
		patch Patch
		want  []string
	}{
		"merge": {
			Patch{Type: PatchMerge, Body: map[string]any{"spec": map[string]any{
				"paused": nil, "updateStrategy": map[string]any{"rollingUpdate": map[string]any{"partition": "75%"}}, "selector": map[string]any{}, "list": []any{int64(1), int64(2)},
			}}},
			[]string{
				"add spec.list[0] = 1", "add spec.list[1] = 2", "remove spec.paused = <nil>", "add spec.selector = map[]",
				"add spec.updateStrategy.rollingUpdate.partition = 75%",
			},
		},
		"json": {
			Patch{Type: PatchJSON, Body: []any{
				map[string]any{"op": "test", "path": "/spec/template/spec/containers/0/image", "value": "web:1"},
				object("/spec/template/spec/containers/0/image", "web:2"),
				map[string]any{"op": "remove", "path": "/spec/template/metadata/annotations/a.b~1c"},
				map[string]any{"op": "test", "path": "/spec/replicas", "value": int64(3)},
			}},
			[]string{
				"add spec.template.spec.containers[0].image = web:2, was web:1", `remove spec.template.metadata.annotations["a.b/c"] = <nil>`, "test spec.replicas = 3",
			},
		},
		"secret": {
			Patch{Type: PatchJSON, Body: []any{
				object("/spec/template/spec/containers/0/env/0/value", "hunter2"),
				object("/spec/template/spec/containers", []any{map[string]any{"name": "app", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "hunter2"}}}}),
			}},
			[]string{
				"add spec.template.spec.containers[0].env[0].value = " + redact.Masked, "add spec.template.spec.containers[0].env[0].name = DB_PASSWORD",
				"add spec.template.spec.containers[0].env[0].value = " + redact.Masked, "add spec.template.spec.containers[0].name = app",
			},
		},
		"a type that plans do not have": {Patch{Type: "strategic", Body: map[string]any{"spec": map[string]any{"a": "b"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range p.PatchFields(c.patch) {
				text := fmt.Sprintf("%s %s = %v", f.Op, f.Path, f.Value)
				if f.Was != nil {
					text += fmt.Sprintf(", was %v", f.Was)
				}
				got = append(got, text)
			}
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestEqualJSON_IsDeepEqual: all pairs of values, also those that differ in Go and not in JSON.
func TestEqualJSON_IsDeepEqual(t *testing.T) {
	values := []any{
		nil, "", "a", true, false, int64(1), 1.0, int32(1), math.NaN(), map[string]any(nil),
		map[string]any{},
		[]any(nil),
		[]any{},
		map[string]any{"a": nil},
		map[string]any{"b": nil},
		map[string]any{"a": int64(1)},
		map[string]any{"a": 1.0},
		[]any{nil},
		[]any{int64(1), "a"},
		[]any{"a", int64(1)},
		[]any{map[string]any{"a": []any{}}},
		[]any{map[string]any{"a": []any(nil)}},
	}
	for _, a := range values {
		for _, b := range values {
			if got, want := equalJSON(a, b), reflect.DeepEqual(a, b); got != want {
				t.Errorf("equalJSON(%#v, %#v) = %v, want %v", a, b, got, want)
			}
		}
	}
}
