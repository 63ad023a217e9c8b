package change

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func scaleDownObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestDefectScaledown_CountsEachNameOnce: each counts once, without the space around it.
func TestDefectScaledown_CountsEachNameOnce(t *testing.T) {
	for want, names := range map[string][]string{"a": {"a"}, "a b": {" a ", " b", "a", "", ""}, "": {"", " "}} {
		if got := strings.Join(trimNames(names), " "); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

// TestDefectScaledown_KeepsReplicasAboveZero: the older plugin panicked where there were none, and went
// below 0.
func TestDefectScaledown_KeepsReplicasAboveZero(t *testing.T) {
	for spec, want := range map[string]int64{"{}": 0, "{replicas: 5}": 3, "{replicas: 1}": 0} {
		u := scaleDownObject(t, "spec: "+spec)
		if err := reduceReplicas(u, 2); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); got != want {
			t.Errorf("%s: %d, want %d", spec, got, want)
		}
	}
}

func TestScaledown_KindsThatNamePods(t *testing.T) {
	for name, c := range map[string]struct {
		kind, spec string
		pods       []string
		added      int
		want, err  string
	}{
		"first":             {kind: "CloneSet", spec: "{replicas: 3}", pods: []string{"a", "b"}, added: 2, want: "{replicas: 3, scaleStrategy: {podsToDelete: [a, b]}}"},
		"one is on its way": {kind: "CloneSet", spec: "{scaleStrategy: {podsToDelete: [a], maxUnavailable: 1}}", pods: []string{"a", "b"}, added: 1, want: "{scaleStrategy: {podsToDelete: [a, b], maxUnavailable: 1}}"},
		"ordinals":          {kind: "StatefulSet", spec: "{reserveOrdinals: [1, 4-5]}", pods: []string{"web-2"}, added: 1, want: "{reserveOrdinals: [1, 4-5, 2]}"},
		"reserved already":  {kind: "StatefulSet", spec: "{reserveOrdinals: [1, 3-4]}", pods: []string{"web-4", "web-0", "web-1"}, want: "{reserveOrdinals: [1, 3-4, 0]}", added: 1},
		"no ordinal":        {kind: "StatefulSet", spec: "{}", pods: []string{"web-a"}, err: "pod web-a has no ordinal"},
		"others":            {kind: "DaemonSet", spec: "{}", err: "currently only supported CloneSet and Advanced StatefulSet selective pods deletion"},
	} {
		t.Run(name, func(t *testing.T) {
			u := scaleDownObject(t, "apiVersion: apps.kruise.io/v1beta1\nkind: "+c.kind+"\nmetadata: {name: web}\nspec: "+c.spec)
			take, err := podRemoverFor(u)
			added := 0
			if err == nil {
				added, err = take(u, c.pods)
			}
			if err != nil || c.err != "" {
				if fmt.Sprint(err) != c.err {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			want := scaleDownObject(t, "spec: "+c.want)
			if diff := cmp.Diff(want.Object["spec"], u.Object["spec"]); diff != "" || added != c.added {
				t.Errorf("%d added, want %d\n%s", added, c.added, diff)
			}
		})
	}
}

// TestScaledown_RefusesAVersionWithoutTheField checks v1alpha1 of the Advanced StatefulSet.
func TestScaledown_RefusesAVersionWithoutTheField(t *testing.T) {
	if _, err := podRemoverFor(scaleDownObject(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: StatefulSet\n")); err == nil {
		t.Error("no error")
	}
}

func TestMembers_AreThePodsOfTheWorkload(t *testing.T) {
	u := scaleDownObject(t, "metadata: {uid: u}")
	pod := func(name, uid, more string) unstructured.Unstructured {
		return *scaleDownObject(t, "metadata: {name: "+name+", ownerReferences: [{uid: "+uid+", controller: true}]"+more)
	}
	got := podsOfWorkload(u, []unstructured.Unstructured{
		pod("b", "u", "}"), pod("a", "u", "}\nstatus: {phase: Pending}"), pod("of-another", "x", "}"), pod("done", "u", "}\nstatus: {phase: Failed}"),
		pod("going", "u", ", deletionTimestamp: '2026-01-01T00:00:00Z'}"), *scaleDownObject(t, "metadata: {name: nobodys}"),
	})
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}
