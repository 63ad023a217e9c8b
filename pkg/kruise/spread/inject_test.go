package spread_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return tree.Root(&n)
}

const matched = `metadata: {annotations: {apps.kruise.io/matched-workloadspread: '{"name":"web","subset":"a"}'}}` + "\n"

func TestInject(t *testing.T) {
	const term = "{matchExpressions: [{key: zone, operator: In, values: [a]}], matchFields: [{key: metadata.name, operator: In, values: [n]}]}"
	for _, c := range []struct{ name, pod, subset, want string }{
		{
			"nothing asked for (006, 015)", "spec: {x: 1}", "{name: a}",
			"spec: {x: 1, affinity: {nodeAffinity: {}}}",
		},
		{
			"tolerations are appended, twice the same stays twice (015)",
			"spec: {tolerations: [{key: base, operator: Exists}]}", "{tolerations: [{key: spot}, {key: base, operator: Exists}]}",
			"spec: {affinity: {nodeAffinity: {}}, tolerations: [{key: base, operator: Exists}, {key: spot}, {key: base, operator: Exists}]}",
		},
		{
			"the only required term", "spec: {}", "{requiredNodeSelector: " + term + "}",
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + term + "]}}}}",
		},
		{
			"every term is narrowed (016)",
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: Exists}]}, {matchFields: [{key: f}]}]}}}}",
			"{requiredNodeSelector: {matchExpressions: [{key: zone, operator: Exists}], matchFields: [{key: g}]}}",
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
				"{matchExpressions: [{key: arch, operator: Exists}, {key: zone, operator: Exists}], matchFields: [{key: g}]}, " +
				"{matchFields: [{key: f}, {key: g}], matchExpressions: [{key: zone, operator: Exists}]}]}}}}",
		},
		{
			"preferences are appended (016)",
			"spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {}}]}}}",
			"{preferredNodeSelector: [{weight: 60, preference: {}}]}",
			"spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {}}, {weight: 60, preference: {}}]}}}",
		},
		{
			"a broken term is replaced",
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [null]}}}}",
			"{requiredNodeSelector: {matchFields: [{key: g}]}}",
			"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: g}]}]}}}}",
		},
		{
			"the patch sees what was injected", "spec: {tolerations: [{key: x}]}",
			"{tolerations: [{key: y}], patch: {spec: {tolerations: [{key: z}], affinity: null}}}",
			"spec: {tolerations: [{key: z}]}",
		},
		{
			"another class loses the number of the old one", "spec: {priorityClassName: low, priority: 3}",
			"{patch: {spec: {priorityClassName: high}}}",
			"spec: {priorityClassName: high, affinity: {nodeAffinity: {}}}",
		},
		{
			"the same class keeps it", "spec: {priorityClassName: low, priority: 3}",
			"{patch: {spec: {priorityClassName: low, hostNetwork: true}}}",
			"spec: {priorityClassName: low, priority: 3, hostNetwork: true, affinity: {nodeAffinity: {}}}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := node(t, c.pod)
			before := tree.Clone(pod)
			got, err := spread.Inject(pod, node(t, c.subset), spread.Match{Spread: "web", Subset: "a"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree.Value(node(t, matched+c.want)), tree.Value(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !tree.Equal(before, pod) {
				t.Error("the pod that came in was changed")
			}
		})
	}
}

func TestInject_MergesThePatch(t *testing.T) {
	pod := node(t, "{metadata: {labels: {app: web, tier: x}}, spec: {containers: [{name: app, image: web, env: [{name: A, value: '1'}]}]}}")
	subset := node(t, `{patch: {metadata: {labels: {tier: null, part: a}}, spec: {containers: [{name: app, env: [{name: B, value: '2'}]}, {name: extra, image: e}]}}}`)
	got, err := spread.Inject(pod, subset, spread.Match{Spread: "web", Subset: "a", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"app": "web", "part": "a"}, tree.Strings(tree.Get(got, "metadata", "labels"))); diff != "" {
		t.Error(diff)
	}
	containers := tree.Items(tree.Get(got, "spec", "containers"))
	if len(containers) != 2 || len(tree.Items(tree.Get(containers[0], "env"))) != 2 || tree.StrAt(containers[1], "name") != "extra" {
		t.Errorf("containers: %v", tree.Value(tree.Get(got, "spec", "containers")))
	}
	want := `{"name":"web","subset":"a","uid":"u"}`
	if note := tree.StrAt(got, "metadata", "annotations", "apps.kruise.io/matched-workloadspread"); note != want {
		t.Errorf("annotation %s, want %s", note, want)
	}
}

func TestInject_RefusesInvalidPatch(t *testing.T) {
	_, err := spread.Inject(node(t, "{spec: {containers: [{name: app}]}}"), node(t, "{patch: {spec: {containers: none}}}"), spread.Match{})
	if err == nil || !strings.Contains(err.Error(), "spec.containers") {
		t.Errorf("error %v", err)
	}
}

func TestTidy(t *testing.T) {
	for before, after := range map[string]string{
		"spec: {a: 1, affinity: {nodeAffinity: {}}}":                "spec: {a: 1}",
		"spec: {affinity: {nodeAffinity: {}, podAffinity: {}}}":     "spec: {affinity: {podAffinity: {}}}",
		"spec: {affinity: {nodeAffinity: {x: []}}}":                 "spec: {affinity: {nodeAffinity: {x: []}}}",
		"spec: {affinity: {podAffinity: {}}}":                       "spec: {affinity: {podAffinity: {}}}",
		"spec: {affinity: {}}":                                      "spec: {affinity: {}}",
		"spec: {containers: []}":                                    "spec: {containers: []}",
		"metadata: {annotations: {affinity: '{nodeAffinity: {}}'}}": "metadata: {annotations: {affinity: '{nodeAffinity: {}}'}}",
	} {
		n := node(t, before)
		spread.Tidy(n)
		if diff := cmp.Diff(tree.Value(node(t, after)), tree.Value(n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", before, diff)
		}
	}
}

func TestReadMatch(t *testing.T) {
	const key = "apps.kruise.io/matched-workloadspread"
	for text, want := range map[string]bool{`{"name":"w","subset":"a"}`: true, "": false, "x": false, `["a"]`: false} {
		m, ok := spread.ReadMatch(map[string]string{key: text})
		if ok != want || ok && (m != spread.Match{Spread: "w", Subset: "a"}) {
			t.Errorf("%q: %v %v", text, m, ok)
		}
	}
	if _, ok := spread.ReadMatch(nil); ok {
		t.Error("a pod without annotations has a subset")
	}
}

// FuzzInject: any subset goes into any pod, or is a fault; the pod that came in
// stays as it was.
func FuzzInject(f *testing.F) {
	const end = "\x1e"
	texts := []string{
		"spec: {tolerations: [{key: a}], affinity: {nodeAffinity: []}}" + end + "{tolerations: [1], requiredNodeSelector: {}, patch: {spec: {affinity: null}}}",
		"spec: []" + end + "{preferredNodeSelector: [{}], requiredNodeSelector: {matchFields: x}}",
		"metadata: {annotations: x}" + end + "{patch: x}",
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		pod, subset, _ := strings.Cut(both, end)
		var a, b yaml.Node
		if yaml.Unmarshal([]byte(pod), &a) != nil || yaml.Unmarshal([]byte(subset), &b) != nil {
			return
		}
		for _, n := range []*yaml.Node{&a, &b} {
			if _, err := tree.Expand(n, 0, tree.Limits{Nodes: 1000, Depth: 50}); err != nil {
				return
			}
		}
		if !tree.IsMap(tree.Root(&a)) || !tree.IsMap(tree.Root(&b)) {
			return
		}
		before := tree.Clone(tree.Root(&a))
		if got, err := spread.Inject(tree.Root(&a), tree.Root(&b), spread.Match{}); err == nil && !tree.IsMap(got) {
			t.Errorf("the pod became %v", got)
		}
		if !tree.Equal(before, tree.Root(&a)) {
			t.Error("the pod that came in was changed")
		}
	})
}
