package render

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	n, err := load.Single("config", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// everything is every option that holds plain values, as all readers see it.
var everything = Config{
	Options: Options{
		Target: Auto, Driver: stage.Native, Kruise: kruise.Minor(8), Kubernetes: 34, HelperImage: "a/b:1", ProtectAll: true, SpreadAs: stage.SpreadConstraints,
		SidecarSetAs: stage.Admission, PreviewAPIs: true, OmitStrategy: true, Expand: []string{"SidecarSet", "cloneset"},
		APIVersions: []string{"apps/v1", "apps.kruise.io/v1beta1"}, Namespace: "shop",
		TemplatePaths: map[string]string{"a.b/C": "spec.template", "d/E": "spec.pod"}, Explain: true,
	},
	With:   []ConfigSource{{File: "a.yaml"}, {File: "b/c.yaml"}},
	Base:   []ConfigSource{{File: "old.yaml"}},
	Strict: true, AllowEmpty: true, Validate: ValidateEcho,
	KruiseSchema: new(bool),
}

func TestRead_FormsAreEqual(t *testing.T) {
	tests := map[string]string{
		"RenderConfig": `
apiVersion: kubectl-kruise.dev/v1alpha1
kind: RenderConfig
metadata: {name: x, annotations: {config.kubernetes.io/function: "exec: {path: a}"}}
spec:
  target: auto
  driver: native
  kubernetesVersion: "1.34"
  kruise: "1.8"
  helperImage: a/b:1
  expand: [SidecarSet, cloneset]
  apiVersions: [apps/v1, apps.kruise.io/v1beta1]
  namespace: shop
  templatePaths: {a.b/C: spec.template, d/E: spec.pod}
  with: [a.yaml, b/c.yaml]
  base: [old.yaml]
  strict: true
  spreadAs: constraints
  sidecarSetAs: admission
  allowPreviewAPIs: true
  omitStrategy: true
  kruiseSchema: false
  protectAll: true
  allowEmpty: true
  explain: true
  validate: echo
`,
		"ConfigMap": `
apiVersion: v1
kind: ConfigMap
metadata: {name: function-input}
data:
  target: auto
  driver: native
  kubernetesVersion: "1.34"
  kruise: "1.8"
  helperImage: a/b:1
  expand: SidecarSet,cloneset
  apiVersions: "apps/v1, apps.kruise.io/v1beta1"
  namespace: shop
  templatePaths: |
    a.b/C=spec.template
    d/E=spec.pod
  with: "a.yaml b/c.yaml"
  base: old.yaml
  strict: "true"
  spreadAs: constraints
  sidecarSetAs: admission
  allowPreviewAPIs: "true"
  omitStrategy: "true"
  kruiseSchema: "false"
  protectAll: "true"
  allowEmpty: "true"
  explain: true
  validate: echo
`,
		"annotations": `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata:
  name: x
  annotations:
    somebody.else/target: nowhere
    kubectl-kruise.dev/strategy: '{"ours": 1}'
    kubectl-kruise.dev/target: auto
    kubectl-kruise.dev/driver: native
    kubectl-kruise.dev/kubernetesVersion: v1.34.2
    kubectl-kruise.dev/kruise: "1.8"
    kubectl-kruise.dev/helperImage: a/b:1
    kubectl-kruise.dev/expand: SidecarSet,cloneset
    kubectl-kruise.dev/apiVersions: apps/v1,apps.kruise.io/v1beta1
    kubectl-kruise.dev/namespace: shop
    kubectl-kruise.dev/templatePaths: a.b/C=spec.template,d/E=spec.pod
    kubectl-kruise.dev/with: a.yaml,b/c.yaml
    kubectl-kruise.dev/base: old.yaml
    kubectl-kruise.dev/strict: "true"
    kubectl-kruise.dev/spreadAs: constraints
    kubectl-kruise.dev/sidecarSetAs: admission
    kubectl-kruise.dev/allowPreviewAPIs: "true"
    kubectl-kruise.dev/omitStrategy: "true"
    kubectl-kruise.dev/kruiseSchema: "false"
    kubectl-kruise.dev/protectAll: "true"
    kubectl-kruise.dev/allowEmpty: "true"
    kubectl-kruise.dev/explain: "true"
    kubectl-kruise.dev/validate: echo
`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ReadConfig(node(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&everything, got); diff != "" {
				t.Error(diff)
			}
			for option := range options {
				if !strings.Contains(text, option+":") {
					t.Errorf("option %s is not tested", option)
				}
			}
		})
	}
}

func TestRead_EmptyConfigIsTheDefault(t *testing.T) {
	for name, text := range map[string]string{
		"RenderConfig":            "{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig}",
		"RenderConfig, null spec": "{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig, spec: }",
		"null option":             "{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig, spec: {target: null}}",
		"ConfigMap":               "{apiVersion: v1, kind: ConfigMap}",
		"object":                  "{apiVersion: a/v1, kind: B}",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadConfig(node(t, text))
			if diff := cmp.Diff(&Config{}, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	if got, err := ReadConfig(nil); err != nil || !cmp.Equal(got, &Config{}) {
		t.Errorf("no config: %+v, %v", got, err)
	}
}

func TestRead_ReportsFaults(t *testing.T) {
	spec := func(s string) string {
		return "{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig, spec: {" + s + "}}"
	}
	data := func(s string) string { return "{apiVersion: v1, kind: ConfigMap, data: {" + s + "}}" }
	tests := map[string]struct{ text, path, msg, hint string }{
		"version":            {"{apiVersion: kubectl-kruise.dev/v2, kind: RenderConfig}", "apiVersion", `unknown version "kubectl-kruise.dev/v2"`, "v1alpha1"},
		"beside spec":        {"{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig, target: native}", "target", "unknown field", "under spec"},
		"spec":               {"{apiVersion: kubectl-kruise.dev/v1alpha1, kind: RenderConfig, spec: [a]}", "spec", "is not a mapping", ""},
		"unknown":            {spec("colour: red"), "spec.colour", `unknown option "colour"`, "one of: allowEmpty, allowPreviewAPIs, apiVersions,"},
		"nearly":             {spec("template-path: {}"), "spec.template-path", "unknown option", "did you mean templatePaths?"},
		"nearly, text":       {data("allow_empty: 'true'"), "data.allow_empty", "unknown option", "did you mean allowEmpty?"},
		"nearly, annotation": {"{apiVersion: a/v1, kind: B, metadata: {annotations: {kubectl-kruise.dev/Strict: 'true'}}}", "metadata.annotations[kubectl-kruise.dev/Strict]", "unknown option", "did you mean strict?"},
		"omitStrategy":       {spec("omitStrategy: true, driver: client"), "spec.omitStrategy", "driver client reads the annotation", "driver native"},
		"target":             {spec("target: helm"), "spec.target", `unknown value "helm"`, "one of: native, kruise, auto"},
		"target number":      {spec("target: 1"), "spec.target", "must be text", ""},
		"target empty":       {spec("target: ''"), "spec.target", "must be text", ""},
		"target list":        {data("target: [a]"), "data.target", "is not text", "quotes"},
		"driver":             {data("driver: kruise"), "data.driver", `unknown value "kruise"`, "one of: native, client"},
		"auto":               {spec("target: auto"), "spec.target", "auto needs apiVersions", "list what the cluster serves"},
		"expand":             {spec("expand: [Deployment]"), "spec.expand", `cannot expand "Deployment"`, "CloneSet"},
		"expand text":        {spec("expand: CloneSet"), "spec.expand", "must be a list of texts", ""},
		"expand of expands":  {spec("expand: [[CloneSet]]"), "spec.expand", "must be a list of texts", ""},
		"strict":             {spec("strict: yes please"), "spec.strict", "must be true or false", ""},
		"strict text":        {data("strict: 'yes'"), "data.strict", "must be true or false", ""},
		"strict quoted":      {spec("strict: 'true'"), "spec.strict", "must be true or false", ""},
		"paths":              {spec("templatePaths: {Runner: a.b}"), "spec.templatePaths", `"Runner" is not a GROUP/KIND`, "batch.example.com/Runner"},
		"paths text":         {data("templatePaths: a/B"), "data.templatePaths", "must be a mapping of texts", ""},
		"paths number":       {spec("templatePaths: {a/B: 1}"), "spec.templatePaths", "must be a mapping of texts", ""},
		"with number":        {spec("with: [1]"), "spec.with", "must be a list of objects and of file names", ""},
		"sidecarSetAs":       {data("sidecarSetAs: policy"), "data.sidecarSetAs", `unknown value "policy"`, "one of: inject, admission"},
		"spreadAs":           {data("spreadAs: even"), "data.spreadAs", `unknown value "even"`, "one of: split, constraints"},
		"idle":               {spec("target: kruise, spreadAs: constraints"), "spec.spreadAs", "constraints changes nothing", "WorkloadSpread in expand"},
		"idle as text":       {data("target: kruise, sidecarSetAs: admission"), "data.sidecarSetAs", "admission changes nothing", "SidecarSet in expand"},
		"validate":           {spec("validate: 'no'"), "spec.validate", `unknown value "no"`, "one of: echo, empty"},
		"api versions":       {spec("apiVersions: {a: b}"), "spec.apiVersions", "must be a list of texts", ""},
		"namespace":          {spec("namespace: []"), "spec.namespace", "must be text", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadConfig(node(t, tc.text))
			var e *tree.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Path != tc.path || !strings.Contains(e.Msg, tc.msg) || !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("got %q, %q, hint %q", e.Path, e.Msg, e.Hint)
			}
		})
	}
}

func TestRead_ReportsAllFaults(t *testing.T) {
	_, err := ReadConfig(node(t, "{apiVersion: v1, kind: ConfigMap, data: {a: b, c: d, strict: x}}"))
	if many, ok := err.(interface{ Unwrap() []error }); !ok || len(many.Unwrap()) != 3 {
		t.Errorf("want three faults, got %v", err)
	}
}

func TestContext(t *testing.T) {
	c, err := ReadConfig(node(t, `
apiVersion: kubectl-kruise.dev/v1alpha1
kind: RenderConfig
spec:
  with:
  - two.yaml
  - {apiVersion: v1, kind: Namespace, metadata: {name: inline}}
  - apiVersion: v1
    kind: List
    items: [{apiVersion: v1, kind: Node, metadata: {name: listed}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) ([]byte, error) {
		if path != "two.yaml" {
			return nil, fs.ErrNotExist
		}
		return []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: b}}\n"), nil
	}
	opt, err := c.Read(read)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range opt.Context {
		got = append(got, o.ID().String())
	}
	if diff := cmp.Diff([]string{"Namespace a", "Namespace b", "Namespace inline", "Node listed"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Read(nil); err == nil || err.Error() != "two.yaml: no files can be read here" {
		t.Errorf("without a reader: %v", err)
	}
}

func TestContext_ReportsUnreadableFiles(t *testing.T) {
	c := Config{With: []ConfigSource{
		{File: "missing.yaml"},
		{File: "broken.yaml"},
		{Object: tree.Map("kind", "Namespace")},
	}}
	_, err := c.Read(func(path string) ([]byte, error) {
		if path == "broken.yaml" {
			return []byte("a: b: c"), nil
		}
		return nil, fs.ErrNotExist
	})
	for _, want := range []string{"missing.yaml: file does not exist", "broken.yaml:1: the YAML is broken", "with[2]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
