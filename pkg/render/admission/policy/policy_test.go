package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func TestAPIVersion(t *testing.T) {
	for _, tt := range []struct {
		minor   int
		preview bool
		want    string
	}{
		{0, false, "v1"},
		{36, false, "v1"},
		{36, true, "v1"},
		{35, false, ""},
		{35, true, "v1beta1"},
		{34, true, "v1beta1"},
		{33, true, "v1alpha1"},
		{32, true, "v1alpha1"},
		{32, false, ""},
		{31, true, ""},
	} {
		want := tt.want
		if want != "" {
			want = "admissionregistration.k8s.io/" + want
		}
		if got := APIVersion(stage.New(nil, stage.Options{Kubernetes: tt.minor, PreviewAPIs: tt.preview})); got != want {
			t.Errorf("1.%d, preview %v: %q, want %q", tt.minor, tt.preview, got, want)
		}
	}
}

func TestName(t *testing.T) {
	if got := Name("SidecarSet", "", "mesh.v2"); got != "kubectl-kruise-sidecarset-mesh.v2" {
		t.Error(got)
	}
	if got := Name("PersistentPodState", "shop", "db"); got != "kubectl-kruise-persistentpodstate-shop.db" {
		t.Error(got)
	}
	long := Name("SidecarSet", "", strings.Repeat("x", 253))
	if len(long) != 253 || long == Name("SidecarSet", "", strings.Repeat("x", 252)+"y") {
		t.Errorf("%d: %s", len(long), long)
	}
}

func TestObjects(t *testing.T) {
	p := &Policy{
		Name: "p", Source: "kind.name", Pods: tree.Map("matchLabels", tree.Map("a", "b")),
		Conditions: []Named{{"here", "true"}}, Variables: []Named{{"v", "1 +\n2"}}, Patch: "[]",
		Params: &Params{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "params"},
	}
	got := make([]any, 2)
	for i, n := range p.Objects("g/v1") {
		got[i] = tree.Value(n)
	}
	metadata := map[string]any{"name": "p", "labels": map[string]any{"kubectl-kruise.dev/source": "kind.name"}}
	want := []any{
		map[string]any{
			"apiVersion": "g/v1", "kind": "MutatingAdmissionPolicy", "metadata": metadata,
			"spec": map[string]any{
				"failurePolicy": "Fail", "reinvocationPolicy": "Never",
				"matchConstraints": map[string]any{
					"resourceRules": []any{map[string]any{
						"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"pods"},
					}},
					"objectSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
				},
				"paramKind":       map[string]any{"apiVersion": "v1", "kind": "ConfigMap"},
				"matchConditions": []any{map[string]any{"name": "here", "expression": "true"}},
				"variables":       []any{map[string]any{"name": "v", "expression": "1 +\n2"}},
				"mutations":       []any{map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": "[]"}}},
			},
		},
		map[string]any{
			"apiVersion": "g/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata,
			"spec": map[string]any{
				"policyName": "p",
				"paramRef":   map[string]any{"name": "params", "namespace": "ns", "parameterNotFoundAction": "Allow"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
