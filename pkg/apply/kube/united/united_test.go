package united

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

const zones = `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web, namespace: shop, uid: u1, generation: 2}
spec:
  template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: main, image: "web:1"}]}}}}}
  topology: {subsets: [{name: zone-b}, {name: zone-a}]}
status: {observedGeneration: 2}
`

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	out := &unstructured.Unstructured{}
	if err == nil {
		err = out.UnmarshalJSON(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func client(t *testing.T, text string) *fake.FakeDynamicClient {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{Resource("v1beta1"): "UnitedDeploymentList"}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, object(t, text))
}

func TestRead_EveryTemplateField(t *testing.T) {
	for field, c := range map[string]struct {
		kind  schema.GroupKind
		paced bool
	}{
		"cloneSetTemplate":            {schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}, true},
		"advancedStatefulSetTemplate": {schema.GroupKind{Group: "apps.kruise.io", Kind: "StatefulSet"}, true},
		"statefulSetTemplate":         {schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, true},
		"deploymentTemplate":          {schema.GroupKind{Group: "apps", Kind: "Deployment"}, false},
	} {
		o := Read(object(t, strings.Replace(zones, "cloneSetTemplate", field, 1)))
		if o.Kind != c.kind || o.Paced() != c.paced || o.TemplateField != field || o.Observed != 2 {
			t.Errorf("%s: %+v", field, o)
		}
		if diff := cmp.Diff([]string{"zone-b", "zone-a"}, o.Subsets); diff != "" {
			t.Errorf("the order given counts:\n%s", diff)
		}
	}
}

// strategy is what updateStrategy says now.
func strategy(t *testing.T, c *fake.FakeDynamicClient) string {
	t.Helper()
	u, err := c.Resource(Resource("v1beta1")).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "updateStrategy")
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRelease_UpdatesSubsetBySubset: with a new template every subset is held back; each is let go by
// itself.
func TestRelease_UpdatesSubsetBySubset(t *testing.T) {
	c := client(t, zones)
	o := Read(object(t, zones))
	if err := o.Release(t.Context(), c, map[string]any{"cloneSetTemplate": map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	if got, want := strategy(t, c), `{"manualUpdate":{"partitions":{"zone-a":2147483647,"zone-b":2147483647}},"type":"Manual"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := o.Partition(t.Context(), c, "zone-b", 0); err != nil {
		t.Fatal(err)
	}
	if got, want := strategy(t, c), `{"manualUpdate":{"partitions":{"zone-a":2147483647,"zone-b":0}},"type":"Manual"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRelease_WritesNoPartitionOfDeployments: no partition is written that would hold nothing.
func TestRelease_WritesNoPartitionOfDeployments(t *testing.T) {
	text := strings.Replace(zones, "cloneSetTemplate", "deploymentTemplate", 1)
	c := client(t, text)
	if err := Read(object(t, text)).Release(t.Context(), c, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if got := strategy(t, c); got != "null" {
		t.Error(got)
	}
}

// TestReleaseSpec_WritesTheWholeSpecAtOnce: a new template comes with all that changes beside it, and
// every subset of the new topology is held back.
func TestReleaseSpec_WritesTheWholeSpecAtOnce(t *testing.T) {
	held := map[string]any{"type": "Manual", "manualUpdate": map[string]any{"partitions": map[string]any{"zone-b": int64(2147483647), "zone-c": int64(2147483647)}}}
	kept := map[string]any{"type": "Manual", "manualUpdate": map[string]any{"partitions": map[string]any{"zone-b": int64(1)}}}
	old := strings.Replace(zones, "spec:\n", "spec:\n  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 2, zone-b: 1}}}\n", 1)
	smaller := strings.Replace(strings.Replace(old, "{name: zone-a}", "{name: zone-c}", 1), "spec:\n", "spec:\n  replicas: 4\n", 1)
	for name, c := range map[string]struct {
		final string
		want  any
	}{
		"new template": {strings.Replace(smaller, "web:1", "web:2", 1), held},
		"same":         {smaller, kept},
	} {
		patch := Read(object(t, old)).ReleaseSpec(object(t, c.final))
		spec := patch[1].(map[string]any)["value"].(map[string]any)
		want := object(t, c.final).Object["spec"].(map[string]any)
		want["updateStrategy"] = c.want
		if diff := cmp.Diff(want, spec); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if patch := Read(object(t, old)).ReleaseSpec(object(t, strings.Replace(old, "zone-a: 2", "zone-a: 0", 1))); patch != nil {
		t.Errorf("partitions are the subsets' own: %v", patch)
	}
}

// TestRelease_RefusesARecreatedObject: what was read is not written to another of its name.
func TestRelease_RefusesARecreatedObject(t *testing.T) {
	c := client(t, zones)
	o := Read(object(t, zones))
	o.UID = "u0"
	if err := o.Release(t.Context(), c, map[string]any{}); err == nil || strategy(t, c) != "null" {
		t.Errorf("%v, %s", err, strategy(t, c))
	}
}
