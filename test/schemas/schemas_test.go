// Package schemas compares what lint says about the structure of objects with the code by which an API
// server reads the definitions of each release of Kruise.
package schemas_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// encoded are the kinds whose mutating webhook reads the object into its type and writes it again,
// before the schema is asked.
var encoded = []string{
	"AdvancedCronJob", "BroadcastJob", "CloneSet", "ContainerRecreateRequest", "DaemonSet", "ImagePullJob",
	"ImageListPullJob", "NodeImage", "SidecarSet", "StatefulSet", "UnitedDeployment",
}

// definition is one version of a kind in a release.
type definition struct {
	kind      string
	release   kruise.Release
	schema    *schema.Structural
	validator validation.SchemaValidator
}

func definitions(t *testing.T, release string) map[string]*definition {
	t.Helper()
	of, err := kruise.ParseRelease(release)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*definition{}
	for _, data := range conformance.Definitions(t, release) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(data, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			var props apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
				t.Fatal(err)
			}
			d := &definition{kind: crd.Spec.Names.Kind, release: of}
			if d.schema, err = schema.NewStructural(&props); err != nil {
				t.Fatal(err)
			}
			if d.validator, _, err = validation.NewSchemaValidator(&props); err != nil {
				t.Fatal(err)
			}
			out[crd.Spec.Group+"/"+v.Name+"/"+d.kind] = d
		}
	}
	return out
}

// refuses is what an API server says about an object that is created, and why a webhook cannot read it.
func (d *definition) refuses(object map[string]any) string {
	o := runtime.DeepCopyJSON(object)
	defaulting.Default(o, d.schema)
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(o, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err.Error()
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(o, d.schema, true, options)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(o, d.schema)
	wrong, more := objectmeta.CoerceWithOptions(nil, o, d.schema, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	switch unknown = append(unknown, more...); {
	case wrong != nil:
		return wrong.Error()
	case len(unknown) > 0:
		return "unknown " + strings.Join(unknown, ", ")
	}
	webhook := slices.Contains(encoded, d.kind)
	if !webhook {
		delete(o, "status")
	}
	typed, err := d.typed(o)
	if err != nil {
		return err.Error()
	}
	if webhook {
		o = typed
		defaulting.Default(o, d.schema)
		pruning.Prune(o, d.schema, true)
	}
	if err := objectmeta.SetObjectMeta(o, meta); err != nil {
		return err.Error()
	}
	list := append(validation.ValidateCustomResource(nil, o, d.validator), listtype.ValidateListSetsAndMaps(nil, d.schema, o)...)
	list = append(list, objectmeta.Validate(nil, nil, o, d.schema, false)...) //nolint:staticcheck // it does not use its context
	if len(list) == 0 {
		return ""
	}
	return list.ToAggregate().Error()
}

// typed is the object, read into its type and written again.
func (d *definition) typed(o map[string]any) (map[string]any, error) {
	k := kruise.Kinds()[slices.IndexFunc(kruise.Kinds(), func(k kruise.Registered) bool { return k.Kind == d.kind })]
	into := reflect.New(k.Type).Interface()
	n := d.release.Read(tree.FromValue(o)).Object
	if _, err := kruise.Decode(n, into); err != nil {
		return nil, err
	}
	kruise.DefaultStored(into)
	_, version, _ := strings.Cut(o["apiVersion"].(string), "/")
	out, _, err := d.release.Convert(tree.FromValue(into), version)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(tree.Value(out))
	if err != nil {
		return nil, err
	}
	back := map[string]any{}
	if err := utiljson.Unmarshal(data, &back); err != nil {
		return nil, err
	}
	delete(back, "status")
	return back, nil
}

// structural are the rules of lint about what a schema says.
var structural = []string{"object/wrong-type", "object/unknown-field", "object/missing-field", "object/metadata-invalid", "object/name-invalid"}

// errorsOf are the errors of lint; other is whether some are not about the structure.
func (d *definition) errorsOf(t *testing.T, object map[string]any) (all []string, other bool) {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	in, err := load.Parse("object.json", data)
	if err != nil {
		return []string{err.Error()}, true
	}
	for _, p := range lint.Run(context.Background(), lint.Request{Objects: in, Kruise: d.release}) {
		if p.Severity == lint.Error {
			all = append(all, p.Error.Error()+" ["+p.Rule+"]")
			other = other || !slices.Contains(structural, p.Rule)
		}
	}
	return all, other
}

// values are put into each place.
var values = []any{
	nil, "", "x", "10%", "2026-01-01T00:00:00Z", int64(0), int64(-1), int64(2147483648), 1.5, true,
	[]any{},
	[]any{nil},
	[]any{""},
	[]any{"a", "a"},
	[]any{map[string]any{"foo": "a"}},
	map[string]any{},
	map[string]any{"k": nil},
	map[string]any{"k": "v"},
}

// known are differences with a reason: an API server looks for fields in a status that is a list; a field
// that only an older release has is known by its name, and not by its type; and the webhook refuses a
// namespace that is no text, which conversion leaves out here.
var known = regexp.MustCompile(`status = \[|adaptive\.unschedulableLastSeconds = |SidecarSet\.spec\.namespace = (map)?\[`)

var index = regexp.MustCompile(`\[\d+\]`)

// TestLint_KnowsTheSchemas puts values of all types into each place of the recorded objects that the
// schema of a release describes.
func TestLint_KnowsTheSchemas(t *testing.T) {
	if !conformance.Recorded() {
		t.Skip("nothing is recorded")
	}
	for release, files := range map[string][][2]string{
		"next": {{"lint-random", "objects.jsonl"}, {"lint-random2", "master.jsonl"}},
		"1.9":  {{"releases", "1.9.jsonl"}, {"lint-random2", "1.9.jsonl"}},
		"1.8":  {{"releases", "1.8.jsonl"}, {"lint-random2", "1.8.jsonl"}},
		"1.5":  {{"releases", "1.5.jsonl"}},
	} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			of, tried := definitions(t, release), map[string]bool{}
			for _, f := range files {
				for _, r := range conformance.Randoms(t, f[0], f[1]) {
					object := map[string]any{}
					if err := utiljson.Unmarshal(r.Object, &object); err != nil {
						t.Fatal(err)
					}
					key := fmt.Sprint(object["apiVersion"], "/", object["kind"])
					if d := of[key]; d != nil && r.Allowed {
						s := sweep{definition: d, t: t, key: key, tried: tried, root: object}
						s.below(object, d.schema, "")
					}
				}
			}
			if len(tried) < 200 {
				t.Errorf("only %d places were tried", len(tried))
			}
		})
	}
}

// sweep changes one object.
type sweep struct {
	*definition
	t     *testing.T
	key   string
	tried map[string]bool
	root  map[string]any
}

// below tries all places below a value, and those that the schema has there.
func (s *sweep) below(v any, of *schema.Structural, path string) {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		names = append(names, slices.Sorted(maps.Keys(of.Properties))...)
		for _, name := range slices.Compact(names) {
			below, ok := of.Properties[name]
			if !ok && of.AdditionalProperties != nil && of.AdditionalProperties.Structural != nil {
				below, ok = *of.AdditionalProperties.Structural, true
			}
			if !ok || path == "" && name != "spec" && name != "status" {
				continue
			}
			was, had := v[name]
			s.place(path+"."+name, func(value any) { v[name] = value })
			if delete(v, name); had {
				v[name] = was
				s.below(was, &below, path+"."+name)
			}
		}
	case []any:
		for i, was := range v {
			if of.Items != nil {
				at := fmt.Sprintf("%s[%d]", path, i)
				s.place(at, func(value any) { v[i] = value })
				v[i] = was
				s.below(was, of.Items, at)
			}
		}
	}
}

// place puts each value at a place.
func (s *sweep) place(path string, put func(any)) {
	if name := s.key + index.ReplaceAllString(path, "[]"); !s.tried[name] {
		s.tried[name] = true
		for _, value := range values {
			put(runtime.DeepCopyJSONValue(value))
			s.compare(fmt.Sprintf("%s%s = %v", s.key, path, value))
		}
	}
}

func (s *sweep) compare(what string) {
	s.t.Helper()
	if known.MatchString(what) {
		return
	}
	theirs := s.refuses(s.root)
	ours, other := s.errorsOf(s.t, s.root)
	if theirs != "" && len(ours) == 0 {
		s.t.Errorf("%s is taken, and an API server says: %s", what, theirs)
	}
	if theirs == "" && len(ours) > 0 && !other {
		s.t.Errorf("%s is refused, and an API server takes it: %s", what, strings.Join(ours, "\n"))
	}
}
