package kruise_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// objects are all kinds, as empty objects of their type.
var objects = map[string]any{
	"AdvancedCronJob": kruise.AdvancedCronJob{}, "BroadcastJob": kruise.BroadcastJob{},
	"CloneSet": kruise.CloneSet{}, "ContainerRecreateRequest": kruise.ContainerRecreateRequest{},
	"DaemonSet": kruise.DaemonSet{}, "EphemeralJob": kruise.EphemeralJob{},
	"ImageListPullJob": kruise.ImageListPullJob{}, "ImagePullJob": kruise.ImagePullJob{},
	"NodeImage": kruise.NodeImage{}, "NodePodProbe": kruise.NodePodProbe{},
	"PersistentPodState": kruise.PersistentPodState{}, "PodProbeMarker": kruise.PodProbeMarker{},
	"PodUnavailableBudget": kruise.PodUnavailableBudget{}, "ResourceDistribution": kruise.ResourceDistribution{},
	"SidecarSet": kruise.SidecarSet{}, "StatefulSet": kruise.StatefulSet{},
	"UnitedDeployment": kruise.UnitedDeployment{}, "WorkloadSpread": kruise.WorkloadSpread{},
}

// crd is what the test needs of a CustomResourceDefinition.
type crd struct {
	Spec struct {
		Group string
		Names struct {
			Kind, Plural string
			ShortNames   []string
		}
		Scope string
		// Versions are the oldest first.
		Versions []struct {
			Name   string
			Served bool
			Schema struct{ OpenAPIV3Schema *schema }
		}
	}
}

type schema struct {
	Type, Format         string
	Properties           map[string]*schema
	Items                *schema
	AdditionalProperties *schema
	Required             []string
	Enum                 []string
	Open                 bool `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
}

// crds reads the schemas of Kruise's main branch.
func crds(t *testing.T) []crd {
	t.Helper()
	return definitions(t, "next")
}

// definitions reads the schemas of a release.
func definitions(t *testing.T, release string) []crd {
	t.Helper()
	files := conformance.Definitions(t, release)
	all := make([]crd, len(files))
	for i, data := range files {
		if err := yaml.Unmarshal(data, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestTypes_EqualTheSchemas(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range crds(t) {
		kind := c.Spec.Names.Kind
		seen[kind] = true
		t.Run(kind, func(t *testing.T) {
			if objects[kind] == nil {
				t.Fatal("no type")
			}
			newest := c.Spec.Versions[len(c.Spec.Versions)-1].Schema.OpenAPIV3Schema
			for _, complaint := range compare(newest, reflect.TypeOf(objects[kind]), "") {
				t.Error(complaint)
			}
		})
	}
	for kind := range objects {
		if !seen[kind] {
			t.Errorf("%s has a type and no schema", kind)
		}
	}
}

// TestTypes_ComparisonFindsDifferences proves that the comparison sees what it is there for.
func TestTypes_ComparisonFindsDifferences(t *testing.T) {
	number := &schema{Type: "integer", Format: "int64"}
	s := &schema{Type: "object", Properties: map[string]*schema{"parallelism": number, "extra": {Type: "string"}}}
	got := strings.Join(compare(s, reflect.TypeFor[kruise.EphemeralJobSpec](), "spec"), "\n")
	for _, want := range []string{"spec.extra: no such field", "spec.parallelism: *int32 for a integer int64", "spec.paused: not in the schema"} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, got)
		}
	}
}

// compare walks schema and type together, both ways.
func compare(s *schema, t reflect.Type, path string) (complaints []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s.Items != nil && t.Kind() == reflect.Slice:
		return compare(s.Items, t.Elem(), path+"[]")
	case s.AdditionalProperties != nil && t.Kind() == reflect.Map:
		return compare(s.AdditionalProperties, t.Elem(), path+"{}")
	case len(s.Properties) == 0:
		return leaf(s, t, path)
	case t.Kind() != reflect.Struct:
		return []string{path + ": " + t.String() + " for an object"}
	}
	fields := fieldsOf(t)
	for name, property := range s.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		f, ok := fields[name]
		if !ok {
			complaints = append(complaints, at+": no such field in "+t.String())
			continue
		}
		if slices.Contains(s.Required, name) && strings.Contains(f.Tag.Get("json"), ",omit") && ours(t) {
			complaints = append(complaints, at+": required, yet left out when empty")
		}
		if sub := compare(property, f.Type, at); len(sub) > 0 {
			complaints = append(complaints, sub...)
		}
	}
	for name := range fields {
		if s.Properties[name] == nil && ours(t) && !s.Open {
			complaints = append(complaints, strings.TrimPrefix(path+"."+name, ".")+": not in the schema")
		}
	}
	return complaints
}

var (
	timeType        = reflect.TypeFor[metav1.Time]()
	intOrStringType = reflect.TypeFor[intstr.IntOrString]()
)

// leaf compares a schema without properties of its own.
func leaf(s *schema, t reflect.Type, path string) []string {
	ok := false
	switch {
	case s.Open:
		ok = t.Kind() == reflect.Struct || t.Kind() == reflect.Slice
	case s.IntOrString:
		ok = t == intOrStringType
	case s.Type == "object":
		ok = t.Kind() == reflect.Struct
	case s.Format == "date-time":
		ok = t == timeType
	case s.Type == "string":
		ok = t.Kind() == reflect.String
	case s.Type == "boolean":
		ok = t.Kind() == reflect.Bool
	case s.Format == "int32":
		ok = t.Kind() == reflect.Int32
	case s.Format == "int64":
		ok = t.Kind() == reflect.Int64
	}
	if ok {
		return nil
	}
	return []string{path + ": *" + t.String() + " for a " + s.Type + " " + s.Format}
}

// fieldsOf returns the fields by their key, with those of inlined structs.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && f.IsExported() && !below(t, f) {
			out[name] = f
		}
	}
	return out
}

// below reports a field of an embedded struct that has a key of its own, such
// as metadata.
func below(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		if name, _, _ := strings.Cut(t.FieldByIndex(f.Index[:i]).Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}

func ours(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "/pkg/kruise") }

// TestConversion_KnowsEveryFieldOfOlderVersions sends every field of an older version, alone in an object,
// through the conversion table into the types: none may be unknown, none may
// vanish.
func TestConversion_KnowsEveryFieldOfOlderVersions(t *testing.T) {
	for _, c := range crds(t) {
		kind := c.Spec.Names.Kind
		for _, v := range c.Spec.Versions[:len(c.Spec.Versions)-1] {
			base := map[string]any{"apiVersion": c.Spec.Group + "/" + v.Name, "kind": kind}
			nothing := typed(t, kind, base)
			samples(v.Schema.OpenAPIV3Schema, "", func(path string, value any) {
				if !strings.HasPrefix(path, "spec") && !strings.HasPrefix(path, "status") {
					return
				}
				object := maps.Clone(base)
				maps.Copy(object, value.(map[string]any))
				if got := typed(t, kind, object); got == nothing {
					t.Errorf("%s %s: %s vanishes", kind, v.Name, path)
				}
			})
		}
	}
}

// typed decodes an object and returns it as text.
func typed(t *testing.T, kind string, object map[string]any) string {
	t.Helper()
	into := reflect.New(reflect.TypeOf(objects[kind])).Interface()
	unknown, err := kruise.Decode(tree.FromValue(object), into)
	if err != nil || len(unknown) > 0 {
		t.Errorf("%s: %v %v\n%v", kind, unknown, err, object)
	}
	text, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// samples calls f with a value for every leaf of the schema, wrapped in what
// is above it.
func samples(s *schema, path string, f func(path string, value any)) {
	switch {
	case s.Items != nil:
		samples(s.Items, path+"[]", func(p string, v any) { f(p, []any{v}) })
	case s.AdditionalProperties != nil:
		samples(s.AdditionalProperties, path+"{}", func(p string, v any) { f(p, map[string]any{"k": v}) })
	case len(s.Properties) > 0:
		for name, property := range s.Properties {
			samples(property, strings.TrimPrefix(path+"."+name, "."), func(p string, v any) {
				f(p, map[string]any{name: v})
			})
		}
	case s.Open, s.Type == "object": // templates and metadata stay as they came
	default:
		f(path, sample(s))
	}
}

func sample(s *schema) any {
	switch {
	case s.Type == "boolean":
		return true
	case s.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "string":
		return "x"
	}
	return int64(7)
}
