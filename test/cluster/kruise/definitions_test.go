package kruise_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

type definition = apiextensionsv1.CustomResourceDefinition

// recorded are Kruise's own definitions, which lie beside the project.
func recorded(t *testing.T) map[string]*definition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("Kruise's own definitions are not beside the project")
	}
	out := map[string]*definition{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d := &definition{}
		if err := yaml.Unmarshal(text, d); err != nil {
			t.Fatal(err)
		}
		out[d.Name] = d
	}
	return out
}

func TestDefinitions_EqualThoseOfKruise(t *testing.T) {
	want := recorded(t)
	got, err := kruise.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		w := want[d.Name]
		delete(want, d.Name)
		if w == nil {
			t.Errorf("%s is not Kruise's", d.Name)
			continue
		}
		if d.Spec.Scope != w.Spec.Scope || !slices.Equal(d.Spec.Names.ShortNames, w.Spec.Names.ShortNames) {
			t.Errorf("%s: scope or names differ", d.Name)
		}
		for i, v := range w.Spec.Versions {
			if len(d.Spec.Versions) <= i || d.Spec.Versions[i].Name != v.Name || d.Spec.Versions[i].Storage != v.Storage {
				t.Errorf("%s: versions differ", d.Name)
				continue
			}
			at := fmt.Sprintf("%s %s", d.Spec.Names.Kind, v.Name)
			for _, complaint := range compare(at, d.Spec.Versions[i].Schema.OpenAPIV3Schema, v.Schema.OpenAPIV3Schema) {
				t.Error(complaint)
			}
		}
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

type props = apiextensionsv1.JSONSchemaProps

// later are fields that Kubernetes' own types got after Kruise's were generated:
// grpc.mode and httpGet.protocol of a probe.
var later = map[string]bool{"mode": true, "protocol": true}

// compare walks both schemas. Where Kruise accepts everything, so must we; the
// fields below that are its webhooks' business.
func compare(at string, got, want *props) (out []string) {
	open := want.XPreserveUnknownFields != nil && *want.XPreserveUnknownFields
	switch {
	case open:
		return nil
	case want.XIntOrString != got.XIntOrString:
		out = append(out, at+": int or string differs")
	case !want.XIntOrString && want.Type != got.Type:
		out = append(out, fmt.Sprintf("%s: type %q, want %q", at, got.Type, want.Type))
	}
	out = append(out, compareDetails(at, got, want)...)
	for _, name := range slices.Sorted(maps.Keys(want.Properties)) {
		w := want.Properties[name]
		g, ok := got.Properties[name]
		if !ok {
			out = append(out, at+"."+name+": missing")
			continue
		}
		out = append(out, compare(at+"."+name, &g, &w)...)
	}
	for _, name := range slices.Sorted(maps.Keys(got.Properties)) {
		if _, ok := want.Properties[name]; !ok && !later[name] {
			out = append(out, at+"."+name+": not Kruise's")
		}
	}
	for _, name := range got.Required {
		if !slices.Contains(want.Required, name) {
			out = append(out, at+"."+name+": required, not by Kruise")
		}
	}
	if got.Items != nil && want.Items != nil {
		out = append(out, compare(at+"[]", got.Items.Schema, want.Items.Schema)...)
	}
	if got.AdditionalProperties != nil && want.AdditionalProperties != nil {
		g, w := got.AdditionalProperties.Schema, want.AdditionalProperties.Schema
		if g != nil && w != nil {
			out = append(out, compare(at+"{}", g, w)...)
		}
	}
	return out
}

// compareDetails is about one field alone: what the API server fills in, refuses
// and keeps unseen.
func compareDetails(at string, got, want *props) (out []string) {
	text := func(v any) string {
		b, _ := json.Marshal(v)
		return string(b)
	}
	condition := text(got.Enum) == `["True","False","Unknown"]` // a type of Kubernetes that says more now
	for what, pair := range map[string][2]string{
		"default":  {text(got.Default), text(want.Default)},
		"enum":     {text(got.Enum), text(want.Enum)},
		"least":    {text(got.Minimum), text(want.Minimum)},
		"format":   {got.Format, want.Format},
		"embedded": {text(got.XEmbeddedResource), text(want.XEmbeddedResource)},
		"open":     {text(got.XPreserveUnknownFields), text(want.XPreserveUnknownFields)},
		"nullable": {text(got.Nullable), text(want.Nullable)},
	} {
		if pair[0] != pair[1] && !condition {
			out = append(out, fmt.Sprintf("%s: %s %s, want %s", at, what, pair[0], pair[1]))
		}
	}
	return out
}
