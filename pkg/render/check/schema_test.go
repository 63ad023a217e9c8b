package check_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// schema is what the test needs of one in a CustomResourceDefinition.
type schema struct {
	Properties           map[string]*schema
	Items                *schema
	AdditionalProperties *schema
	Required             []string
	Open                 bool `json:"x-kubernetes-preserve-unknown-fields"`
}

// TestRequiredFields_AreReported leaves everything out that a schema requires, one object of it
// after the other: what is required must be missed, and nothing else.
func TestRequiredFields_AreReported(t *testing.T) {
	for _, data := range conformance.Definitions(t, "next") {
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema *schema }
				}
			}
		}
		if err := yaml.Unmarshal(data, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			object := func(spec any) *resource.Resource {
				n := tree.FromValue(map[string]any{"apiVersion": crd.Spec.Group + "/" + v.Name, "kind": crd.Spec.Names.Kind, "metadata": map[string]any{"name": "x"}, "spec": spec})
				return resource.Parsed(n, nil, resource.Origin{})
			}
			v.Schema.OpenAPIV3Schema.Properties["spec"].each("spec", func(path string, s *schema, wrap func(any) any) {
				requires(t, crd.Spec.Names.Kind+" "+v.Name, path, s, object(wrap(map[string]any{})))
			})
		}
	}
}

// requires compares what is missed directly below path with the schema.
func requires(t *testing.T, what, path string, s *schema, r *resource.Resource) {
	t.Helper()
	filled := !slices.Contains([]string{"EphemeralJob", "NodePodProbe", "PersistentPodState", "PodProbeMarker", "ResourceDistribution", "WorkloadSpread", "PodUnavailableBudget"}, r.Kind())
	in := []*resource.Resource{r}
	faults := check.Object(newContext(in, nil), check.Request{Object: r})
	named := func(field string) bool {
		return slices.ContainsFunc(faults, func(f check.Fault) bool {
			return strings.HasPrefix(f.Field, path+"."+field) || strings.HasPrefix(path+"."+field, f.Field+".")
		})
	}
	for _, field := range s.Required {
		if !filled && !named(field) {
			t.Errorf("%s: %s.%s is not missed", what, path, field)
		}
	}
	for _, f := range faults {
		field, below := strings.CutPrefix(f.Field, path+".")
		if f.Rule == "object/missing-field" && below && !strings.Contains(field, ".") && !slices.Contains(s.Required, field) {
			t.Errorf("%s: %s is missed, but not required", what, f.Field)
		}
	}
}

// each calls f for every object of the schema, with what puts one there.
func (s *schema) each(path string, f func(path string, s *schema, wrap func(any) any)) {
	self := func(v any) any { return v }
	s.walk(path, self, f)
}

func (s *schema) walk(path string, wrap func(any) any, f func(string, *schema, func(any) any)) {
	switch {
	case s.Open:
	case s.Items != nil:
		s.Items.walk(path+"[0]", func(v any) any { return wrap([]any{v}) }, f)
	case s.AdditionalProperties != nil:
		s.AdditionalProperties.walk(path+"[k]", func(v any) any { return wrap(map[string]any{"k": v}) }, f)
	case len(s.Properties) > 0:
		f(path, s, wrap)
		for name, property := range s.Properties {
			property.walk(path+"."+name, func(v any) any { return wrap(map[string]any{name: v}) }, f)
		}
	}
}

// TestName_IsRequired: reading refuses an object without a name, so only objects
// of another origin come here without one.
func TestName_IsRequired(t *testing.T) {
	for _, object := range []string{good, goodSet, united(clones)} {
		in := golden.Parse(t, object)
		tree.DeleteAt(in[0].Edit(), "metadata", "name")
		err := checkedList(in, nil)
		if err == nil || !strings.Contains(err.Error(), "metadata.name") || !strings.Contains(err.Error(), "required") {
			t.Errorf("%s: %v", in[0].Kind(), err)
		}
	}
}

// TestFaults_HaveAStableOrder: what is wrong with labels and annotations comes in one order, though
// Kubernetes looks at them as a map gives them.
func TestFaults_HaveAStableOrder(t *testing.T) {
	bad := strings.Replace(goodSet, "{name: agent}", "{name: agent, annotations: {a/b/c: x, ' ': x, _/d: x, e_: x, '-': x}, labels: {' ': x, -a: x, b-: x}}", 1)
	var first string
	for range 30 {
		err := checkedList(golden.Parse(t, bad), nil)
		if err == nil || strings.Count(err.Error(), "metadata.") < 8 {
			t.Fatal(err)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("at first:\n%s\nthen:\n%s", first, err)
		}
	}
}

// TestObject_ReportsAll: one run reports each value of a wrong type, and what else is wrong, with its line.
func TestObject_ReportsAll(t *testing.T) {
	err := checked(t, `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: three
  minReadySeconds: [1]
  foo: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: Web
        image: i
        resources: {limits: {memory: lots}}
`, "")
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, want := range []string{
		"input.yaml:5: CloneSet web: spec.replicas: ", "input.yaml:6: CloneSet web: spec.minReadySeconds: ", "input.yaml:7: CloneSet web: spec.foo: unknown field",
		"input.yaml:13: CloneSet web: spec.template.spec.containers[0].name: ",
		"input.yaml:15: CloneSet web: spec.template.spec.containers[0].resources.limits[memory]: not an amount: want a number, with a unit or without, such as 500m, 2 or 1.5Gi",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

// TestObject_SchemasOfTheAPIServer: an API server refuses some values that a Go type takes, and takes
// some that it does not. test/schemas compares all places with the library that it has for schemas.
func TestObject_SchemasOfTheAPIServer(t *testing.T) {
	sidecars := func(line string) string {
		return strings.NewReplacer("metadata: {name: web, namespace: shop}", "metadata: {name: web}", "v1beta1", "v1alpha1").Replace(
			object("SidecarSet", "selector: {matchLabels: {app: web}}, "+line))
	}
	probes := func(command string) string {
		return object("PodProbeMarker", "selector: {matchLabels: {app: web}}, probes: [{name: a, podConditionType: x/a, containerName: web, probe: {exec: {command: ["+command+"]}}}]")
	}
	selects := "selector: {matchLabels: {app: web}}, " + podOf
	for name, c := range map[string]struct{ object, want string }{
		"namespace":                {strings.Replace(object("CloneSet", selects), "namespace: shop", "namespace: Shop_1", 1), "object/metadata-invalid metadata.namespace"},
		"owner without a name":     {strings.Replace(object("CloneSet", selects), "namespace: shop", "namespace: shop, ownerReferences: [{apiVersion: v1, kind: Pod, uid: u, name: ''}]", 1), "object/metadata-invalid metadata.ownerReferences[0].name"},
		"field of a sidecar's own": {sidecars("containers: [{name: a, image: i, upgradeStrategy: {kind: HotUpgrade}}]"), "object/unknown-field spec.containers[0].upgradeStrategy.kind"},
		"no namespace":             {sidecars("namespace: null, containers: [{name: a, image: i}]"), ""},
		"null in a list":           {probes("x, null"), "object/missing-field spec.probes[0].probe.exec.command[1]"},
		"status of a wrong type":   {probes("x") + "status: none\n", "object/wrong-type status (accepted)"},
		"field of a status":        {probes("x") + "status: {none: 1}\n", "object/unknown-field status.none"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := faultsOf(t, c.object); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
