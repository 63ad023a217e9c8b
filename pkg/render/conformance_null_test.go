package render_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	versions "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestConformanceNull: an explicit null that the API server takes is rendered and converted
// like a field that is not there. Nulls may stay in the output, where the server takes them too.
func TestConformanceNull(t *testing.T) {
	for file, name := range map[string]string{"1.8.jsonl": "1.8", "master.jsonl": "next"} {
		release, err := kruise.ParseRelease(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range conformance.Randoms(t, "lint-null", file) {
			if !r.Allowed {
				continue
			}
			without, err := json.Marshal(withoutNulls(valueOf(t, r.Object)))
			if err != nil {
				t.Fatal(err)
			}
			for verb, run := range map[string]func([]*resource.Resource) ([]*resource.Resource, []string, error){
				"render": func(in []*resource.Resource) ([]*resource.Resource, []string, error) {
					res, err := render.Render(t.Context(), in, render.Options{Kruise: release, OmitStrategy: true})
					if err != nil {
						return nil, nil, err
					}
					return res.Resources, nil, nil
				},
				"convert": func(in []*resource.Resource) ([]*resource.Resource, []string, error) {
					to := kruise.V1beta1
					if in[0].Version() == to {
						to = kruise.V1alpha1
					}
					written, err := versions.ForRelease(in, versions.Writing{Version: to, Release: kruise.Next})
					var fields []string
					for _, l := range written.Lost {
						fields = append(fields, l.Path)
					}
					for _, a := range kruise.Next.Unknown(in[0].Node()) {
						fields = append(fields, a.Path)
					}
					return in, fields, err
				},
			} {
				got, want := become(t, r.Object, run), become(t, without, run)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s:%d: %s %s (-without +null):\n%s", file, r.Line, verb, r.Fields, diff)
				}
			}
		}
	}
}

// outcome is what a verb made of an object.
type outcome struct {
	Objects []any
	Fields  []string
	Error   string
}

func become(t *testing.T, object []byte, run func([]*resource.Resource) ([]*resource.Resource, []string, error)) outcome {
	t.Helper()
	in, err := load.Parse("object.yaml", object)
	if err != nil {
		t.Fatal(err)
	}
	list, fields, err := run(in)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	out := outcome{Fields: fields}
	for _, r := range list {
		var b bytes.Buffer
		if err := emit.JSONStream(&b, []*resource.Resource{r}, stage.Limits{}); err != nil {
			t.Fatal(err)
		}
		v := withoutNulls(valueOf(t, b.Bytes()))
		// Kruise's hash of a distributed object is of its bytes.
		if annotations, ok := tree.Value(tree.Get(r.Node(), "metadata", "annotations")).(map[string]any); ok && annotations[kruise.ResourceHashCodeAnnotation] != nil {
			delete(v.(map[string]any)["metadata"].(map[string]any)["annotations"].(map[string]any), kruise.ResourceHashCodeAnnotation)
		}
		out.Objects = append(out.Objects, v)
	}
	return out
}

func valueOf(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if x == nil {
				delete(v, key)
			} else {
				withoutNulls(x)
			}
		}
	case []any:
		for _, x := range v {
			withoutNulls(x)
		}
	}
	return v
}
