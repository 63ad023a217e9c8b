package cluster

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestHash(t *testing.T) {
	for name, want := range map[string]string{
		"web-7c9f":         "7c9f",
		"web-front-7c9f":   "7c9f",
		"7c9f":             "7c9f",
		"":                 "",
		"trailing-":        "",
		"web-68bbc8b6dc":   "68bbc8b6dc",
		"a-b-c-d-e-f-hash": "hash",
	} {
		if got := Hash(name); got != want {
			t.Errorf("Hash(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPod_FindsContainersAndConditions(t *testing.T) {
	p := &Pod{
		Conditions: []Condition{{Type: "Ready", Status: corev1.ConditionTrue}, {Type: "Other", Status: corev1.ConditionFalse}},
		Containers: []Container{{Name: "main", Image: "web:1"}, {Name: "side", Image: "log:1"}},
	}
	if c, ok := p.Condition("Other"); !ok || c.Status != corev1.ConditionFalse {
		t.Errorf("Condition(Other) = %v, %v", c, ok)
	}
	if _, ok := p.Condition("Missing"); ok {
		t.Error("a condition that is not there was found")
	}
	if c, ok := p.Container("side"); !ok || c.Image != "log:1" {
		t.Errorf("Container(side) = %v, %v", c, ok)
	}
	if _, ok := p.Container("init"); ok {
		t.Error("a container that is not there was found")
	}
}

func TestDefaultGates(t *testing.T) {
	if got := DefaultGates(); got != (Gates{InPlaceUpdateEnvFromMetadata: true}) {
		t.Errorf("DefaultGates() = %+v", got)
	}
}

// TestGates switches every gate by its name, and only that one; each field has a name.
func TestGates(t *testing.T) {
	named := map[string]string{}
	for _, name := range GateNames() {
		var g Gates
		*g.Gate(name) = true
		var switched []string
		for _, f := range reflect.VisibleFields(reflect.TypeFor[Gates]()) {
			if v := reflect.ValueOf(g).FieldByIndex(f.Index); v.Kind() == reflect.Bool && v.Bool() {
				switched = append(switched, f.Name)
			}
		}
		if len(switched) != 1 || named[switched[0]] != "" {
			t.Fatalf("%s switches %v, as %s does", name, switched, named[strings.Join(switched, "")])
		}
		named[switched[0]] = name
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Gates]()) {
		if f.Type.Kind() == reflect.Bool && named[f.Name] == "" {
			t.Errorf("gate %s has no name", f.Name)
		}
	}
	if (&Gates{}).Gate("Nope") != nil {
		t.Error("a gate that is none")
	}
	if g := GatesOf(kruise.Minor(3)); g.InPlaceUpdateEnvFromMetadata || g.Release != kruise.Minor(3) {
		t.Errorf("of 1.3: %+v", g)
	}
}

// FuzzReadWorkload: whatever an object of a kind that can be rolled out holds, it is
// read or refused.
func FuzzReadWorkload(f *testing.F) {
	texts := []string{"apiVersion: apps/v1\nkind: Deployment\nspec: null\n"}
	for _, kind := range []string{"apps/v1\nkind: Deployment", "apps.kruise.io/v1beta1\nkind: CloneSet", "apps.kruise.io/v1alpha1\nkind: UnitedDeployment", "apps.kruise.io/v1beta1\nkind: StatefulSet", "apps.kruise.io/v1alpha1\nkind: DaemonSet", "apps.kruise.io/v1alpha1\nkind: SidecarSet", "apps/v1\nkind: ReplicaSet"} {
		texts = append(texts, fmt.Sprintf("apiVersion: %s\nmetadata: {name: web, generation: 9223372036854775807}\nspec:\n  replicas: 2147483647\n  selector: {matchLabels: {app: web}}\n  updateStrategy: {rollingUpdate: {partition: 50%%}}\n  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: x}]}}\nstatus: {observedGeneration: -1, replicas: 3}\n", kind))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var doc tree.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			return
		}
		if _, err := tree.Expand(&doc, 0, tree.Limits{Nodes: 10_000, Depth: 50}); err != nil || !tree.IsMap(tree.Root(&doc)) {
			return
		}
		w, err := ReadWorkload(tree.Root(&doc))
		if (w == nil) == (err == nil) {
			t.Errorf("%v, %v", w, err)
		}
	})
}
