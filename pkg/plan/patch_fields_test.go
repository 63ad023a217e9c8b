package plan

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
)

// TestPatchFields: a field a line, what is required before it is written beside it, and
// nothing that is likely to be secret.
func TestPatchFields(t *testing.T) {
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
				"add spec.template.spec.containers[0].env[0].value = " + mask.Masked, "add spec.template.spec.containers[0].env[0].name = DB_PASSWORD",
				"add spec.template.spec.containers[0].env[0].value = " + mask.Masked, "add spec.template.spec.containers[0].name = app",
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
