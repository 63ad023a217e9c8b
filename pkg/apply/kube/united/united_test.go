package united

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
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

func client(t *testing.T, texts ...string) *fake.FakeDynamicClient {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{Resource("v1beta1"): "UnitedDeploymentList", revisionsResource: "ControllerRevisionList", podsResource: "PodList"}
	var objects []runtime.Object
	for _, text := range texts {
		objects = append(objects, object(t, text))
	}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// revision is one of the object's, as its controller stores it: without what the API server fills in.
func revision(name string, number int, image string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: %s, namespace: shop, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, name: web, uid: u1, controller: true}]}
revision: %d
data: {spec: {template: {$patch: replace, cloneSetTemplate: {spec: {minReadySeconds: 5, template: {metadata: {creationTimestamp: null}, spec: {containers: [{name: main, image: %q}]}}}}}}}
`, name, number, image)
}

// pod is one of a subset, made of a revision.
func pod(name, revision string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop, labels: {apps.kruise.io/subset-name: zone-a, apps.kruise.io/controller-revision-hash: %s}}\n", name, revision)
}

// stored is the object as it is now.
func stored(t *testing.T, c *fake.FakeDynamicClient) *Object {
	t.Helper()
	u, err := c.Resource(Resource("v1beta1")).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Read(u)
}

// template is the one of the object with an image, as the API server stores it.
func template(image string) map[string]any {
	return map[string]any{"cloneSetTemplate": map[string]any{"spec": map[string]any{
		"minReadySeconds": int64(5),
		"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Always", "terminationGracePeriodSeconds": int64(30),
			"containers": []any{map[string]any{"name": "main", "image": image, "imagePullPolicy": "Always"}},
		}},
	}}}
}

// TestSameTemplate_IgnoresDefaultsAndDecoders: a revision and the live template are of different decoders, and
// only one of them has what the API server fills in.
func TestSameTemplate_IgnoresDefaultsAndDecoders(t *testing.T) {
	r, _, _ := unstructured.NestedMap(object(t, revision("web-1", 1, "web:1")).Object, "data", "spec", "template")
	delete(r, "$patch")
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var floats map[string]any
	if err := json.Unmarshal(text, &floats); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		b    map[string]any
		same bool
	}{"the same": {template("web:1"), true}, "another image": {template("web:2"), false}} {
		for kind, a := range map[string]map[string]any{"as the cluster decodes it": r, "numbers as float64": floats} {
			if SameTemplate(a, c.b) != c.same || SameTemplate(c.b, a) != c.same {
				t.Errorf("%s, %s: want %t", name, kind, c.same)
			}
		}
	}
}

// TestRelease_KeepsWhatWasBefore: the strategy and the revision of most pods are kept in the same request, and
// stay those before the first rollout until one has ended.
func TestRelease_KeepsWhatWasBefore(t *testing.T) {
	text := strings.Replace(zones, "  topology:", "  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 1}}}\n  topology:", 1)
	for name, text := range map[string]string{"without annotations": text, "with one": strings.Replace(text, "uid: u1", "uid: u1, annotations: {a: b}", 1)} {
		c := client(t, text, revision("web-1", 1, "web:1"), revision("web-2", 2, "web:2"), pod("a", "web-1"), pod("b", "web-1"), pod("c", "web-2"))
		o := Read(object(t, text))
		must(t, release(t, o, c, template("web:2")))
		o = stored(t, c)
		want := &Start{"web-1", map[string]any{"type": "Manual", "manualUpdate": map[string]any{"partitions": map[string]any{"zone-a": 1.0}}}}
		if diff := cmp.Diff(want, o.Start); diff != "" || o.Final("zone-a") != 1 || o.Final("zone-b") != 0 || !o.Held() {
			t.Errorf("%s:\n%s", name, diff)
		}
		must(t, release(t, o, c, template("web:3")))
		if diff := cmp.Diff(want, stored(t, c).Start); diff != "" {
			t.Errorf("%s, again:\n%s", name, diff)
		}
		former, err := stored(t, c).Former(t.Context(), c)
		must(t, err)
		if former.Name != "web-1" || former.Template["cloneSetTemplate"] == nil || former.Template["$patch"] != nil {
			t.Errorf("%s: %+v", name, former)
		}
		must(t, stored(t, c).Settle(t.Context(), c, o.FinalStrategy(), nil))
		if got, want := strategy(t, c), `{"manualUpdate":{"partitions":{"zone-a":1}},"type":"Manual"}`; got != want || stored(t, c).Start != nil {
			t.Errorf("%s: %s, want %s; %+v", name, got, want, stored(t, c).Start)
		}
	}
}

// TestSettle_HoldsWhatIsNotDone: a subset that keeps more pods than the strategy says keeps its partition, and the
// rollout has not ended; what an older version has left counts as nothing.
func TestSettle_HoldsWhatIsNotDone(t *testing.T) {
	c := client(t, zones, revision("web-1", 1, "web:1"), pod("a", "web-1"))
	must(t, release(t, stored(t, c), c, template("web:2")))
	must(t, stored(t, c).Partition(t.Context(), c, "zone-b", 1))
	o := stored(t, c)
	must(t, o.Settle(t.Context(), c, o.FinalStrategy(), []string{"zone-b"}))
	if got, want := strategy(t, c), `{"manualUpdate":{"partitions":{"zone-b":1}},"type":"Manual"}`; got != want || stored(t, c).Start == nil {
		t.Errorf("%s, want %s; %+v", got, want, stored(t, c).Start)
	}
	o = stored(t, c)
	must(t, o.Settle(t.Context(), c, o.FinalStrategy(), nil))
	if got := strategy(t, c); got != "null" || stored(t, c).Start != nil {
		t.Errorf("%s, %+v", got, stored(t, c).Start)
	}

	left := strings.Replace(zones, "  topology:", "  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 2147483647, zone-b: 0}}}\n  topology:", 1)
	c = client(t, left)
	o = stored(t, c)
	must(t, o.Settle(t.Context(), c, o.FinalStrategy(), nil))
	if got, want := strategy(t, c), `{"manualUpdate":{"partitions":{"zone-b":0}},"type":"Manual"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBegin_OfATemplateThatIsThere: partitions of the manifest held the subsets back, and the rollout removes them.
func TestBegin_OfATemplateThatIsThere(t *testing.T) {
	text := strings.NewReplacer("  topology:", "  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-a: 9}}}\n  topology:", "web:1", "web:2", "spec: {template: {spec", "spec: {minReadySeconds: 5, template: {spec").Replace(zones)
	c := client(t, text, revision("web-1", 1, "web:1"), revision("web-2", 2, "web:2"), pod("a", "web-1"))
	must(t, begin(t, c))
	if o := stored(t, c); o.Start == nil || o.Start.Revision != "web-1" || o.Final("zone-a") != 0 {
		t.Errorf("%+v", o.Start)
	}
	c = client(t, text, revision("web-1", 1, "web:1"), revision("web-2", 2, "web:2"), pod("a", "web-2"))
	must(t, begin(t, c))
	if o := stored(t, c); o.Start != nil || o.annotated {
		t.Errorf("all pods have the template: %+v", o.Start)
	}
}

// TestFormer_IsReadFromPods: where nothing was noted, pods say what they run.
func TestFormer_IsReadFromPods(t *testing.T) {
	text := strings.NewReplacer("web:1", "web:3", "spec: {template: {spec", "spec: {minReadySeconds: 5, template: {spec").Replace(zones)
	c := client(t, text, revision("web-1", 1, "web:1"), revision("web-2", 2, "web:2"), revision("web-3", 3, "web:3"), pod("a", "web-1"), pod("b", "web-3"), pod("c", "web-3"))
	if r, err := stored(t, c).Former(t.Context(), c); err != nil || r.Name != "web-1" {
		t.Errorf("%+v, %v", r, err)
	}
	c = client(t, text, revision("web-1", 1, "web:1"), revision("web-3", 3, "web:3"), pod("b", "web-3"))
	if r, err := stored(t, c).Former(t.Context(), c); !errors.Is(err, errNoStart) {
		t.Errorf("%+v, %v", r, err)
	}
}

// release writes a new template as a rollout does.
func release(t *testing.T, o *Object, c dynamic.Interface, template map[string]any) error {
	t.Helper()
	if err := o.NoteStart(t.Context(), c); err != nil {
		return err
	}
	return o.Write(t.Context(), c, o.ReleasePatch(template))
}

// begin begins a rollout whose template is there.
func begin(t *testing.T, c *fake.FakeDynamicClient) error {
	t.Helper()
	o := stored(t, c)
	patch, err := o.BeginPatch(t.Context(), c)
	if err != nil || patch == nil {
		return err
	}
	return o.Write(t.Context(), c, patch)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := release(t, o, c, map[string]any{"cloneSetTemplate": map[string]any{}}); err != nil {
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
	if err := release(t, Read(object(t, text)), c, map[string]any{}); err != nil {
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
	if err := release(t, o, c, map[string]any{}); err == nil || strategy(t, c) != "null" {
		t.Errorf("%v, %s", err, strategy(t, c))
	}
}
