package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestDocument_HasTheFieldsOfTheRelease: the schema of a kind for a release has the fields of Kruise that
// the release's own definition has, and no others.
func TestDocument_HasTheFieldsOfTheRelease(t *testing.T) {
	for _, name := range conformance.DefinedReleases {
		release, err := kruise.ParseRelease(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range conformance.Definitions(t, name) {
			var d crd
			if err := yaml.Unmarshal(text, &d); err != nil {
				t.Fatal(err)
			}
			for _, v := range d.Spec.Versions {
				b, err := JSON(d.Spec.Group+"/"+v.Name, d.Spec.Names.Kind, Options{Kruise: release})
				if err != nil {
					t.Fatal(err)
				}
				var ours map[string]any
				if err := json.Unmarshal(b, &ours); err != nil {
					t.Fatal(err)
				}
				sameFields(t, name+" "+d.Spec.Names.Kind+" "+v.Name+" spec", at(ours, []string{"spec"}), v.Schema.OpenAPIV3Schema.Properties["spec"])
			}
		}
	}
}

// sameFields compares down to where Kubernetes' types begin.
func sameFields(t *testing.T, path string, ours map[string]any, them *theirs) {
	t.Helper()
	if ours == nil || them == nil || ours["$ref"] != nil || ours["anyOf"] != nil && !them.IntOrString || len(them.Properties)+btoi(them.Items != nil)+btoi(them.AdditionalProperties != nil) == 0 && !them.IntOrString && them.Type != "integer" {
		return
	}
	if one := strings.Trim(kindOf(ours), " "); them.Type == "integer" && one != "integer" || them.IntOrString && ours["anyOf"] == nil {
		t.Errorf("%s: %v, want %s", path, ours["type"], them.Type)
	}
	properties, _ := ours["properties"].(map[string]any)
	for name, p := range them.Properties {
		mine, _ := properties[name].(map[string]any)
		if mine == nil && properties != nil && !strings.HasSuffix(path, "conditions[]") {
			t.Errorf("%s.%s: missing", path, name)
		}
		sameFields(t, path+"."+name, mine, p)
	}
	if len(them.Properties) > 0 && !them.Open {
		for name := range properties {
			if them.Properties[name] == nil && name != "mode" && name != "protocol" {
				t.Errorf("%s.%s: not Kruise's", path, name)
			}
		}
	}
	items, _ := ours["items"].(map[string]any)
	sameFields(t, path+"[]", items, them.Items)
	values, _ := ours["additionalProperties"].(map[string]any)
	sameFields(t, path+"{}", values, them.AdditionalProperties)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kindOf is the one type of a schema beside null.
func kindOf(s map[string]any) string {
	switch v := s["type"].(type) {
	case string:
		return v
	case []any:
		for _, one := range v {
			if one != "null" {
				return one.(string)
			}
		}
	}
	return ""
}
