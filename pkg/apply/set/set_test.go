package set

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestParseParent(t *testing.T) {
	for text, want := range map[string]string{
		"shop": "secret/shop", "secret/shop": "secret/shop", "Secrets/shop": "secret/shop", "configmap/shop": "configmap/shop", "cm/shop": "configmap/shop",
		"": "", "secret/": "", "deployment/shop": "", "secret/a/b": "",
	} {
		p, err := ParseParent(text, "here")
		if (err == nil) != (want != "") || err == nil && p.String() != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

// TestParent_IDLikeKubectl: the value that kubectl has for the same parent.
func TestParent_IDLikeKubectl(t *testing.T) {
	if got, want := (Parent{"Secret", "test", "my-set"}).ID(), "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func contents(namespaces string, kinds ...string) Contents {
	c := Contents{Namespaces: splitList(namespaces)}
	for _, k := range kinds {
		c.Add(schema.ParseGroupKind(k), "")
	}
	return c
}

// TestParent_MetadataIsReadAsWritten: what a parent says is read as it was written.
func TestParent_MetadataIsReadAsWritten(t *testing.T) {
	p := Parent{"Secret", "here", "shop"}
	c := contents("away,here", "Deployment.apps", "ConfigMap", "CloneSet.apps.kruise.io")
	labels, annotations := p.Metadata(c, "v1.2.3")
	if diff := cmp.Diff(map[string]string{
		toolingAnnotation: "kubectl-kruise/v1.2.3", KindsAnnotation: "CloneSet.apps.kruise.io,ConfigMap,Deployment.apps", namespacesAnnotation: "away",
	}, annotations); diff != "" || labels[IDLabel] != p.ID() {
		t.Errorf("%v\n%s", labels, diff)
	}
	got, err := p.Recorded(labels, annotations)
	if diff := cmp.Diff(c, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestRecorded_RefusesSetsOfOtherTools(t *testing.T) {
	p := Parent{"Secret", "here", "shop"}
	for want, c := range map[string]struct{ labels, annotations map[string]string }{
		"not a parent of an ApplySet": {nil, map[string]string{"a": "b"}},
		`another tool, "kubectl/v1.37`: {
			map[string]string{IDLabel: p.ID()}, map[string]string{toolingAnnotation: "kubectl/v1.37"},
		},
		`another tool, ""`:     {map[string]string{IDLabel: p.ID()}, nil},
		"which is not its own": {map[string]string{IDLabel: "x"}, map[string]string{toolingAnnotation: "kubectl-kruise/v1"}},
	} {
		if _, err := p.Recorded(c.labels, c.annotations); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := p.Labelled(map[string]string{PartOfLabel: "x"}); err == nil {
		t.Error("takes a member of another set")
	}
	given := map[string]string{"a": "b"}
	labels, err := p.Labelled(given)
	if diff := cmp.Diff(map[string]string{"a": "b", PartOfLabel: p.ID()}, labels); err != nil || diff != "" || len(given) != 1 {
		t.Errorf("%v %v\n%s", err, given, diff)
	}
}

func TestContents_UniteBothLists(t *testing.T) {
	got := contents("b", "ConfigMap").With(contents("a,b", "Secret", "ConfigMap"))
	if diff := cmp.Diff(contents("a,b", "ConfigMap", "Secret"), got); diff != "" {
		t.Error(diff)
	}
}

// TestLeft_DeletesDependenciesLast: what is kept, what goes already and what was found twice is not deleted,
// and what others need goes last.
func TestLeft_DeletesDependenciesLast(t *testing.T) {
	member := func(kind, name string, leaving bool) Member {
		return Member{Kind: schema.GroupKind{Kind: kind}, Name: name, UID: kind + name, Leaving: leaving}
	}
	found := []Member{
		member("Namespace", "n", false), member("ConfigMap", "b", false), member("ConfigMap", "a", false), member("ConfigMap", "a", false),
		member("ConfigMap", "kept", false), member("Pod", "going", true), member("Pod", "p", false),
	}
	rank := map[string]int{"Namespace": 0, "ConfigMap": 1, "Pod": 2}
	var got []string
	for _, m := range Left(found, map[string]bool{"ConfigMapkept": true}, func(kind string) int { return rank[kind] }) {
		got = append(got, m.Kind.Kind+" "+m.Name)
	}
	if diff := cmp.Diff([]string{"Pod p", "ConfigMap a", "ConfigMap b", "Namespace n"}, got); diff != "" {
		t.Error(diff)
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const live = "{kind: %s, metadata: {uid: u, resourceVersion: '7', generation: 3, managedFields: [{}]}, spec: %s, status: {x: 1}}"

func TestRolls_NamesRolloutFields(t *testing.T) {
	for name, c := range map[string]struct {
		kind, live, final string
		rolls             []string
	}{
		"nothing":            {"Deployment", "{template: {a: b}, replicas: 1}", "{template: {a: b}, replicas: 2}", nil},
		"template":           {"Deployment", "{template: {a: b}, replicas: 1}", "{template: {a: c}, replicas: 2}", []string{"spec.template"}},
		"partition kept":     {"CloneSet", "{updateStrategy: {rollingUpdate: {partition: 3}}}", "{updateStrategy: {rollingUpdate: {maxSurge: 1}}}", []string{"spec.updateStrategy.rollingUpdate.partition"}},
		"partition withheld": {"CloneSet", "{}", "{updateStrategy: {partition: 3, paused: true}}", []string{"spec.updateStrategy.partition", "spec.updateStrategy.paused"}},
		"paused":             {"Deployment", "{paused: true}", "{}", []string{"spec.paused"}},
		"sidecars":           {"SidecarSet", "{containers: [a], selector: x}", "{containers: [b], selector: y}", []string{"spec.containers"}},
	} {
		was, is := object(t, fmt.Sprintf(live, c.kind, c.live)), object(t, fmt.Sprintf(live, c.kind, c.final))
		if diff := cmp.Diff(c.rolls, Rolls(was, is)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if diff := cmp.Diff(was.Object["spec"], WithSpecOf(was, is).Object["spec"]); diff != "" {
			t.Errorf("%s: before the rollout, part of the spec is written:\n%s", name, diff)
		}
	}
}

func TestKeepHeld_KeepsWhatHoldsPodsBack(t *testing.T) {
	for name, c := range map[string]struct{ kind, now, object, want string }{
		"a partition":        {"CloneSet", "{updateStrategy: {rollingUpdate: {partition: 2}}}", "{replicas: 4}", "{replicas: 4, updateStrategy: {rollingUpdate: {partition: 2}}}"},
		"another partition":  {"CloneSet", "{updateStrategy: {partition: 2}}", "{updateStrategy: {partition: 1}}", "{updateStrategy: {partition: 2}}"},
		"a percentage":       {"CloneSet", "{updateStrategy: {partition: 50%}}", "{}", "{updateStrategy: {partition: 50%}}"},
		"none":               {"CloneSet", "{updateStrategy: {rollingUpdate: {partition: 0}}}", "{replicas: 4}", "{replicas: 4}"},
		"no other field":     {"CloneSet", "{template: {a: b}, updateStrategy: {paused: true}}", "{template: {a: c}}", "{template: {a: c}}"},
		"subsets of its own": {"UnitedDeployment", "{updateStrategy: {type: Manual}}", "{}", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			object, want := objectOf(t, c.kind, c.object), objectOf(t, c.kind, c.want)
			KeepHeld(objectOf(t, c.kind, c.now), object)
			if diff := cmp.Diff(want.Object, object.Object); diff != "" {
				t.Error(diff)
			}
		})
	}
	now, spec := objectOf(t, "UnitedDeployment", "{updateStrategy: {manualUpdate: {partitions: {a: 1}}}}"), objectOf(t, "UnitedDeployment", "{}")
	now.SetAnnotations(map[string]string{kruise.BeforeRolloutAnnotation: "{}"})
	if KeepHeld(now, spec); !Same(now, spec) {
		t.Errorf("%v", spec.Object)
	}
}

func TestForgetDeleted_KeepsAllOther(t *testing.T) {
	for before, after := range map[string]string{
		"{replicas: 4, scaleStrategy: {podsToDelete: [web-a], maxUnavailable: 1}}": "{replicas: 4, scaleStrategy: {maxUnavailable: 1}}",
		"{replicas: 4, scaleStrategy: {podsToDelete: [web-a]}}":                    "{replicas: 4}",
		"{replicas: 4}": "{replicas: 4}",
	} {
		got := objectOf(t, "CloneSet", before)
		ForgetDeleted(got)
		if diff := cmp.Diff(objectOf(t, "CloneSet", after).Object, got.Object); diff != "" {
			t.Errorf("%s: %s", before, diff)
		}
	}
}

func objectOf(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(live, kind, spec))
}

func TestReleases_OnlyRolloutFields(t *testing.T) {
	for fields, want := range map[string]bool{"spec.updateStrategy.partition": true, "spec.paused": true, "spec.template": false, "spec.containers": false, "spec.paused spec.template": false} {
		if got := Releases(strings.Fields(fields)); got != want {
			t.Errorf("%s: %v", fields, got)
		}
	}
}

func TestPatch_HoldsOnlyDifferences(t *testing.T) {
	from := object(t, fmt.Sprintf(live, "Deployment", "{a: 1, b: 2}"))
	same := object(t, fmt.Sprintf(live, "Deployment", "{a: 1, b: 2}"))
	same.SetResourceVersion("8")
	same.SetGeneration(4)
	same.SetManagedFields(nil)
	if patch, err := Patch(from, same); err != nil || patch != nil {
		t.Errorf("%s, %v", patch, err)
	}
	patch, err := Patch(from, object(t, fmt.Sprintf(live, "Deployment", "{a: 2}")))
	if want := `{"metadata":{"resourceVersion":"7","uid":"u"},"spec":{"a":2,"b":null}}`; err != nil || string(patch) != want {
		t.Errorf("%s, %v, want %s", patch, err, want)
	}
}

func TestKeepMark_KeepsTheRevisionLabel(t *testing.T) {
	const marked = "{template: {metadata: {labels: {app: web, controller-revision-hash: x}}}}"
	for kind, want := range map[string]string{"ReplicaSet": "x", "Deployment": ""} {
		got := object(t, fmt.Sprintf(live, kind, "{template: {metadata: {labels: {app: web}}}}"))
		KeepMark(object(t, fmt.Sprintf(live, kind, marked)), got)
		if mark, _, _ := unstructured.NestedString(got.Object, "spec", "template", "metadata", "labels", mark); mark != want {
			t.Errorf("%s: %q", kind, mark)
		}
	}
	KeepMark(nil, object(t, fmt.Sprintf(live, "ReplicaSet", "{}")))
}

func TestOverlay_MergesItemsByName(t *testing.T) {
	got := Overlay(
		object(t, "{spec: {kept: 1, containers: [{name: a, image: i, policy: Always}, {name: gone}], list: [1, 2]}}"),
		object(t, "{spec: {new: 2, containers: [{name: b}, {name: a, image: j}], list: [3]}}"),
	)
	want := object(t, "{spec: {kept: 1, new: 2, containers: [{name: b}, {name: a, image: j, policy: Always}], list: [3]}}")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
