package kruise_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestTripsOfWholeSchemas fills every field of every schema, goes to the other
// version and back: what does not come back must be reported, and what comes
// out must have a place in the schema of its version.
func TestTripsOfWholeSchemas(t *testing.T) {
	for _, c := range crds(t) {
		if len(c.Spec.Versions) < 2 {
			continue
		}
		for i, from := range c.Spec.Versions {
			to := c.Spec.Versions[1-i]
			t.Run(c.Spec.Names.Kind+" from "+from.Name, func(t *testing.T) {
				in := tree.FromValue(filled(from.Schema.OpenAPIV3Schema, ""))
				tree.Set(in, "apiVersion", tree.String(c.Spec.Group+"/"+from.Name))
				tree.Set(in, "kind", tree.String(c.Spec.Names.Kind))
				tree.SetAt(in, tree.Map("name", "a"), "metadata")
				legal(in, c.Spec.Names.Kind, from.Name)
				there, lost, err := kruise.FromHub(in, to.Name)
				if err != nil {
					t.Fatal(err)
				}
				homeless(t, to.Schema.OpenAPIV3Schema, tree.Value(there), "")
				back, lostBack, err := kruise.FromHub(there, from.Name)
				if err != nil {
					t.Fatal(err)
				}
				homeless(t, from.Schema.OpenAPIV3Schema, tree.Value(back), "")
				reported := slices.Concat(lost, lostBack)
				for _, path := range gone("", meaning(in), meaning(back)) {
					if !slices.ContainsFunc(reported, func(l kruise.Loss) bool {
						at := dotted.Replace(l.Path)
						return strings.HasPrefix(at, path) || strings.HasPrefix(path, at)
					}) {
						t.Errorf("%s is lost and not reported, but %v", path, reported)
					}
				}
			})
		}
	}
}

// dotted turns [ and ] of paths into dots.
var dotted = strings.NewReplacer("[", ".", "]", "")

// legal replaces what a schema allows and no conversion can know what to do
// with, and takes out what has a test of its own.
func legal(n *tree.Node, kind, version string) {
	strategy := tree.Get(n, "spec", "updateStrategy")
	switch {
	case kind == "CloneSet" && version == kruise.V1beta1:
		tree.Set(strategy, "type", tree.String("RollingUpdate"))
	case kind == "CloneSet": // v1alpha1 reads annotations in place of these
		for _, f := range []string{"Parallelism", "TimeoutSeconds", "MinUpdatedReadyPods"} {
			tree.DeleteAt(strategy, "inPlaceUpdateStrategy", "imagePreDownload"+f)
		}
	case kind == "AdvancedCronJob": // refused as a whole
		tree.DeleteAt(n, "spec", "template", "imageListPullJobTemplate")
	case kind == "UnitedDeployment": // names of subsets would have to agree
		tree.Delete(n, "status")
	}
}

// filled makes a value with every field of the schema. Pod templates stay
// empty: no conversion looks into them.
func filled(s *schema, name string) any {
	switch {
	case name == "template" && s.Properties["spec"] != nil && s.Properties["spec"].Properties["containers"] != nil:
		return map[string]any{"spec": map[string]any{}}
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.IntOrString:
		return "7%"
	case s.Items != nil:
		return []any{filled(s.Items, "")}
	case s.AdditionalProperties != nil:
		return map[string]any{"key": filled(s.AdditionalProperties, "")}
	case len(s.Properties) > 0:
		m := map[string]any{}
		for key, p := range s.Properties {
			m[key] = filled(p, key)
		}
		return m
	case s.Type == "integer", s.Type == "number":
		return int64(7)
	case s.Type == "boolean":
		return true
	case s.Type == "string":
		return "text"
	}
	return map[string]any{}
}

// homeless complains of fields that the schema does not have.
func homeless(t *testing.T, s *schema, v any, path string) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if s.Items != nil {
				homeless(t, s.Items, item, path)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch p := s.Properties[key]; {
			case p != nil:
				homeless(t, p, v[key], strings.TrimPrefix(path+"."+key, "."))
			case s.AdditionalProperties != nil:
				homeless(t, s.AdditionalProperties, v[key], path+"{}")
			case len(s.Properties) > 0 && !s.Open:
				t.Errorf("%s.%s has no place in the schema", path, key)
			}
		}
	}
}
