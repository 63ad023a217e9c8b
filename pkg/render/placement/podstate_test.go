package placement_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
)

const (
	zone = "topology.kubernetes.io/zone"
	host = "kubernetes.io/hostname"
)

func parse(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return tree.Root(&n)
}

func TestGenerated(t *testing.T) {
	const on = "kruise.io/auto-generate-persistent-pod-state: 'true'"
	for name, c := range map[string]struct {
		annotations, version string
		want                 *kruise.PersistentPodStateSpec
	}{
		"off":            {annotations: "kruise.io/auto-generate-persistent-pod-state: 'false', kruise.io/required-persistent-topology: a"},
		"no switch":      {annotations: "kruise.io/required-persistent-topology: a"},
		"no topology":    {annotations: on + ", kruise.io/persistent-pod-annotations: a"},
		"empty topology": {annotations: on + ", kruise.io/required-persistent-topology: ''"},
		"required, and nothing is trimmed": {
			annotations: on + ", kruise.io/required-persistent-topology: 'a, b'", version: "apps/v1",
			want: &kruise.PersistentPodStateSpec{
				TargetRef:                  kruise.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"},
				RequiredPersistentTopology: &kruise.NodeTopologyTerm{Keys: []string{"a", " b"}},
			},
		},
		"preferred, of Kruise's own kind": {
			annotations: on + ", kruise.io/preferred-persistent-topology: 'a,b', kruise.io/persistent-pod-annotations: 'c,d'", version: "apps.kruise.io/v1alpha1",
			want: &kruise.PersistentPodStateSpec{
				TargetRef:                   kruise.TargetReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "db"},
				PersistentPodAnnotations:    []kruise.PersistentPodAnnotation{{Key: "c"}, {Key: "d"}},
				PreferredPersistentTopology: []kruise.PreferredTopologyTerm{{Weight: 100, Preference: kruise.NodeTopologyTerm{Keys: []string{"a", "b"}}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, ok := placement.Generated(parse(t, "{apiVersion: "+c.version+", kind: StatefulSet, metadata: {name: db, namespace: shop, annotations: {"+c.annotations+"}}}"))
			if ok != (c.want != nil) {
				t.Fatalf("%v, %v", state, ok)
			}
			if !ok {
				return
			}
			if diff := cmp.Diff(*c.want, state.Spec); diff != "" || state.Name != "db" || state.Namespace != "shop" {
				t.Errorf("%s/%s: %s", state.Namespace, state.Name, diff)
			}
		})
	}
}

func spec() *kruise.PersistentPodStateSpec {
	return &kruise.PersistentPodStateSpec{
		PersistentPodAnnotations:   []kruise.PersistentPodAnnotation{{Key: "volume"}, {Key: "absent"}},
		RequiredPersistentTopology: &kruise.NodeTopologyTerm{Keys: []string{zone, "rack"}},
		PreferredPersistentTopology: []kruise.PreferredTopologyTerm{
			{Weight: 80, Preference: kruise.NodeTopologyTerm{Keys: []string{host, "rack", zone}}},
			{Weight: 20, Preference: kruise.NodeTopologyTerm{Keys: []string{"rack"}}},
		},
	}
}

func at(node, z string) kruise.PodState {
	return kruise.PodState{NodeName: node, NodeTopologyLabels: map[string]string{zone: z, host: node}}
}

func pod(name, node, z string) placement.Pod {
	return placement.Pod{Name: name, Node: node, Labels: map[string]string{zone: z, host: node, "other": "x"}, Active: true, Ready: true}
}

func below(n int) placement.Workload {
	w := placement.Workload{Known: true}
	for i := range n {
		w.Ordinals = append(w.Ordinals, i)
	}
	return w
}

func TestPass(t *testing.T) {
	waiting, ending, unplaced := pod("db-0", "n2", "b"), pod("db-0", "n2", "b"), pod("db-0", "", "b")
	waiting.Ready, ending.Active = false, false
	annotated := pod("db-0", "n1", "a")
	annotated.Annotations = map[string]string{"volume": "v1", "more": "x"}
	kept := at("n1", "a")
	kept.Annotations = map[string]string{"volume": "v1"}
	known := map[string]kruise.PodState{"db-0": at("n1", "a"), "db-1": at("n1", "a")}
	for name, c := range map[string]struct {
		workload placement.Workload
		pods     []placement.Pod
		policy   kruise.PersistentPodStateRetentionPolicyType
		want     map[string]kruise.PodState
	}{
		"moved":                          {workload: below(2), pods: []placement.Pod{pod("db-0", "n2", "b")}, want: map[string]kruise.PodState{"db-0": at("n2", "b"), "db-1": at("n1", "a")}},
		"new":                            {workload: below(3), pods: []placement.Pod{pod("db-2", "n3", "c")}, want: map[string]kruise.PodState{"db-0": at("n1", "a"), "db-1": at("n1", "a"), "db-2": at("n3", "c")}},
		"annotations":                    {workload: below(1), pods: []placement.Pod{annotated}, want: map[string]kruise.PodState{"db-0": kept}},
		"not ready":                      {workload: below(2), pods: []placement.Pod{waiting}, want: known},
		"about to end":                   {workload: below(2), pods: []placement.Pod{ending}, want: known},
		"without node":                   {workload: below(2), pods: []placement.Pod{unplaced}, want: known},
		"scaled in":                      {workload: below(1), want: map[string]kruise.PodState{"db-0": at("n1", "a")}},
		"scaled in, and still there":     {workload: below(1), pods: []placement.Pod{pod("db-1", "n1", "a")}, want: known},
		"scaled in, kept until deletion": {workload: below(1), policy: kruise.PersistentPodStateRetainedWhenDeleted, want: known},
		"any other policy":               {workload: below(1), policy: "Whenever", want: map[string]kruise.PodState{"db-0": at("n1", "a")}},
		"unknown size":                   {want: known},
		"gone":                           {workload: placement.Workload{Gone: true}, policy: kruise.PersistentPodStateRetainedWhenDeleted, pods: []placement.Pod{pod("db-0", "n1", "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			s.PersistentPodStateRetentionPolicy = c.policy
			if diff := cmp.Diff(c.want, placement.Pass(s, known, c.workload, c.pods)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff(map[string]kruise.PodState{"db-0": at("n1", "a"), "db-1": at("n1", "a")}, known); diff != "" {
		t.Errorf("the argument was changed: %s", diff)
	}
}

func TestReadPod(t *testing.T) {
	const ready = "conditions: [{type: Ready, status: 'True'}]"
	for text, want := range map[string]struct{ active, ready bool }{
		"status: {phase: Running, " + ready + "}":                                         {true, true},
		"status: {phase: Running}":                                                        {true, false},
		"status: {phase: Succeeded, " + ready + "}":                                       {false, true},
		"metadata: {name: p, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {a: b}":    {false, false},
		"status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}, spec: {": {true, false},
	} {
		if strings.HasSuffix(text, "{") {
			text += "}"
		}
		if p := placement.ReadPod(parse(t, "{"+text+"}"), nil); p.Active != want.active || p.Ready != want.ready {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func TestPut(t *testing.T) {
	for name, c := range map[string]struct{ pod, labels, want string }{
		"bare": {
			pod: "spec: {containers: []}", labels: "{" + zone + ": a, " + host + ": n1}",
			want: `
metadata: {annotations: {kruise.io/injected-persistent-pod-state: db}}
spec:
  containers: []
  nodeSelector: {` + zone + `: a}
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 80
        preference: {matchExpressions: [{key: ` + host + `, operator: In, values: [n1]}, {key: ` + zone + `, operator: In, values: [a]}]}
      - {weight: 20, preference: {}}
`,
		},
		"with places of its own": {
			pod: `
metadata: {annotations: {a: b}, labels: {c: d}}
spec:
  nodeSelector: {os: linux, rack: old}
  affinity:
    podAntiAffinity: {e: f}
    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {g: h}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}
`, labels: "{rack: '1'}",
			want: `
metadata: {annotations: {a: b, kruise.io/injected-persistent-pod-state: db}, labels: {c: d}}
spec:
  nodeSelector: {os: linux, rack: '1'}
  affinity:
    podAntiAffinity: {e: f}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {g: h}
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1}
      - {weight: 80, preference: {matchExpressions: [{key: rack, operator: In, values: ['1']}]}}
      - {weight: 20, preference: {matchExpressions: [{key: rack, operator: In, values: ['1']}]}}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := parse(t, c.pod)
			before := tree.Value(in)
			p, ok := placement.Placed(spec(), kruise.PodState{NodeTopologyLabels: tree.Strings(parse(t, c.labels))})
			if !ok {
				t.Fatal("nothing is placed")
			}
			if diff := cmp.Diff(tree.Value(parse(t, c.want)), tree.Value(p.Put(in, "db"))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, tree.Value(in)); diff != "" {
				t.Errorf("the pod handed in was changed: %s", diff)
			}
		})
	}
}

// TestPut_StateWithoutLabelsChangesNothing: a state without labels puts nothing into a pod, not even the
// mark.
func TestPut_StateWithoutLabelsChangesNothing(t *testing.T) {
	if p, ok := placement.Placed(spec(), kruise.PodState{NodeName: "n1"}); ok {
		t.Errorf("%+v", p)
	}
}

func TestEqual(t *testing.T) {
	a, _ := placement.Placed(spec(), at("n1", "a"))
	same, _ := placement.Placed(spec(), at("n1", "a"))
	b, _ := placement.Placed(spec(), at("n2", "a"))
	c, _ := placement.Placed(spec(), at("n1", "c"))
	if !a.Equal(same) || a.Equal(b) || a.Equal(c) {
		t.Error("Equal is wrong")
	}
}
