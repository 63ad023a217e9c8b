package schema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
)

// crd is what the test needs of a CustomResourceDefinition.
type crd struct {
	Spec struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Name   string
			Schema struct{ OpenAPIV3Schema *theirs }
		}
	}
}

type theirs struct {
	Type                 string
	Properties           map[string]*theirs
	Items                *theirs
	AdditionalProperties *theirs
	Open                 bool `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
}

// TestSchemas_HaveTheSameFieldsInBothVersions: the definitions of Kruise's main branch have the same fields
// in both versions, down to where Kubernetes' types begin.
func TestSchemas_HaveTheSameFieldsInBothVersions(t *testing.T) {
	m, err := all()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range conformance.Definitions(t, "next") {
		var d crd
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Spec.Versions {
			ours := m.kinds[[2]string{d.Spec.Group + "/" + v.Name, d.Spec.Names.Kind}]
			if ours == nil {
				t.Errorf("%s: no schema of %s", d.Spec.Names.Kind, v.Name)
				continue
			}
			m.compare(t, d.Spec.Names.Kind+" "+v.Name, ours, v.Schema.OpenAPIV3Schema)
		}
	}
}

// later are fields that Kubernetes' own types got after Kruise's definitions
// were made: grpc.mode and httpGet.protocol of a probe. Conditions of older
// versions, too, lack what Kubernetes' own have, and only controllers write them.
var later = []string{"mode", "protocol"}

func (m made) compare(t *testing.T, at string, ours *Schema, them *theirs) {
	t.Helper()
	if name := ours.Ref; name != "" {
		ours = m.shared[name[len(prefix):]]
	}
	switch {
	case them == nil || them.Open || len(them.Properties) == 0 && them.Items == nil && them.AdditionalProperties == nil && them.Type == "object":
		return
	case them.IntOrString:
		if len(ours.AnyOf) != 2 {
			t.Errorf("%s: no number or text", at)
		}
		return
	case ours.Type != them.Type:
		t.Errorf("%s: %q, want %q", at, ours.Type, them.Type)
	}
	names := map[string]bool{}
	for name := range them.Properties {
		names[name] = true
	}
	for name := range ours.Properties {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := ours.Properties[name], them.Properties[name]
		switch {
		case a == nil:
			t.Errorf("%s.%s: missing", at, name)
		case b == nil && !slices.Contains(later, name) && (name != "observedGeneration" || !strings.HasSuffix(at, "conditions[]")):
			t.Errorf("%s.%s: not Kruise's", at, name)
		case b != nil:
			m.compare(t, at+"."+name, a, b)
		}
	}
	if them.Items != nil && ours.Items != nil {
		m.compare(t, at+"[]", ours.Items, them.Items)
	}
	if them.AdditionalProperties != nil && ours.values() != nil {
		m.compare(t, at+"{}", ours.values(), them.AdditionalProperties)
	}
}
