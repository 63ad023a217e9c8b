package kustomize

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestSchema_DefinesWhatItRefersTo: what refers to a definition finds it, and kustomize's own
// kinds are there.
func TestSchema_DefinesWhatItRefersTo(t *testing.T) {
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Definitions map[string]any }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"io.k8s.api.apps.v1.Deployment", "io.k8s.api.networking.v1.Ingress", "io.kruise.policy.v1beta1.PodUnavailableBudget"} {
		if doc.Definitions[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if name, ok := v["$ref"].(string); ok && doc.Definitions[strings.TrimPrefix(name, "#/definitions/")] == nil {
				t.Errorf("%s is not there", name)
			}
			for _, child := range v {
				visit(child)
			}
		case []any:
			for _, child := range v {
				visit(child)
			}
		}
	}
	visit(doc.Definitions)
}

// TestSchema_PortsMergeByNumberAndProtocol: ports of a sidecar are distinguished as those of any container.
func TestSchema_PortsMergeByNumberAndProtocol(t *testing.T) {
	additions, err := Additions()
	if err != nil {
		t.Fatal(err)
	}
	err = WithSchema(additions, func() error {
		for _, version := range []string{kruise.V1alpha1, kruise.V1beta1} {
			s := openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: kruise.Group + "/" + version, Kind: "SidecarSet"})
			_, keys := s.Lookup("spec", "containers", openapi.Elements, "ports").PatchStrategyAndKeyList()
			if !slices.Equal(keys, []string{"containerPort", "protocol"}) {
				t.Errorf("%s: ports merge by %q", version, keys)
			}
			if _, key := s.Lookup("spec", "containers").PatchStrategyAndKey(); key != "name" {
				t.Errorf("%s: containers merge by %q", version, key)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSchema_KnowsTheScopeOfKinds: kustomize knows which kinds live in a namespace.
func TestSchema_KnowsTheScopeOfKinds(t *testing.T) {
	additions, err := Additions()
	if err != nil {
		t.Fatal(err)
	}
	err = WithSchema(additions, func() error {
		for _, k := range kruise.Kinds() {
			for _, version := range k.Versions {
				scoped, found := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: k.Group + "/" + version, Kind: k.Kind})
				if !found || scoped == k.ClusterScoped {
					t.Errorf("%s %s: %v, %v", version, k.Kind, scoped, found)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestConfiguration_NamesExistingFields: each path leads to a field of the kind that it is
// for, as far as the kind is ours.
func TestConfiguration_NamesExistingFields(t *testing.T) {
	additions, err := Additions()
	if err != nil {
		t.Fatal(err)
	}
	c := configured()
	all := slices.Concat(c.CommonLabels, c.TemplateLabels, c.VolumeClaimTemplateLabels, c.CommonAnnotations, c.Images, c.Replicas)
	for _, r := range c.NameReference {
		all = append(all, r.FieldSpecs...)
	}
	err = WithSchema(additions, func() error {
		for _, f := range all {
			if f.Group == kruise.Group || f.Group == kruise.PolicyGroup {
				lookUp(t, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func lookUp(t *testing.T, f fieldSpec) {
	t.Helper()
	s := openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: f.Group + "/" + kruise.V1beta1, Kind: f.Kind})
	if s == nil {
		s = openapi.SchemaForResourceType(yaml.TypeMeta{APIVersion: f.Group + "/" + kruise.V1alpha1, Kind: f.Kind})
	}
	// Kustomize's schema is of Kubernetes 1.21, which has no image volumes.
	if strings.HasSuffix(f.Path, "/volumes[]/image/reference") {
		return
	}
	for step := range strings.SplitSeq(strings.ReplaceAll(f.Path, "[]", ""), "/") {
		if s.Schema.Items != nil {
			s = s.Elements()
		}
		if s = s.Field(step); s == nil {
			t.Errorf("%s has no %s: %s", f.Kind, f.Path, step)
			return
		}
	}
}
