package kruise

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
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

const podTemplate = `metadata:
  labels: {app: x, cost: low}
spec:
  containers:
  - name: main # the one
    image: example.com/x:1
    env:
    - {name: KEEP, value: "1"}
    - {name: SLOW, value: "1"}
    ports:
    - containerPort: 53
      protocol: UDP
    futureList: [1, 2]
  nodeSelector: {os: linux, arch: arm}
  futureMap: {a: 1}
  terminationGracePeriodSeconds: 5
`

// TestPatchTree holds the patch to Kubernetes' strategic merge.
func TestPatchTree(t *testing.T) {
	tests := []struct{ name, patch, at, want string }{
		{"null deletes", "metadata: {labels: {cost: null}}", "metadata.labels", "{app: x}\n"},
		{"null of nothing", "spec: {priorityClassName: null}", "spec.priorityClassName", ""},
		{"scalar", "spec: {terminationGracePeriodSeconds: 90}", "spec.terminationGracePeriodSeconds", "90\n"},
		{"element deleted", "spec: {containers: [{name: main, env: [{name: SLOW, $patch: delete}]}]}", "spec.containers[0].env", "- {name: KEEP, value: \"1\"}\n"},
		{"element merged", "spec: {containers: [{name: main, env: [{name: SLOW, value: \"2\"}]}]}", "spec.containers[0].env[1].value", "\"2\"\n"},
		{"list replaced", "spec: {containers: [{$patch: replace}, {name: other}]}", "spec.containers", "- name: other\n"},
		{"map replaced", "spec: {nodeSelector: {$patch: replace, zone: a}}", "spec.nodeSelector", "{zone: a}\n"},
		{"map merged", "spec: {nodeSelector: {zone: a}}", "spec.nodeSelector", "{os: linux, arch: arm, zone: a}\n"},
		{"unknown field added", "spec: {otherFuture: {b: 2}}", "spec.otherFuture", "b: 2\n"},
		{"unknown fields stay", "spec: {hostNetwork: true}", "spec.futureMap", "{a: 1}\n"},
		{"added container behind those named", "spec: {containers: [{name: main}, {name: extra, image: y}]}", "spec.containers[1].name", "extra\n"},
		{"added volume", "spec: {volumes: [{name: fast, emptyDir: {}}]}", "spec.volumes", "- emptyDir: {}\n  name: fast\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := PatchTree(node(t, podTemplate), node(t, tc.patch))
			if err != nil {
				t.Fatal(err)
			}
			n, whole := tree.At(got, tc.at)
			if !whole {
				n = nil
			}
			if diff := cmp.Diff(tc.want, written(t, n)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

func TestPatchTree_RefusesMalformedPatches(t *testing.T) {
	for patch, want := range map[string]string{
		"spec":                     "must be a mapping",
		"[]":                       "must be a mapping",
		"spec: {containers: [1]}":  "does not fit the pod template: elements of a list are of another type",
		"spec: {containers: none}": "makes no pod template: spec.containers",
		"spec: {hostNetwork: 1}":   "makes no pod template: spec.hostNetwork",
		"spec: {nodeSelector: {$patch: reverse}}":              "does not fit",
		"spec: {containers: [{image: x}]}":                     "a list element has no name",
		"spec: {containers: [{name: {a: b}}, {name: {a: b}}]}": "neither text nor number",
		// Lists and maps that our version of Kubernetes does not know cannot be
		// merged, for want of a merge key.
		"spec: {containers: [{name: main, futureList: [3]}]}": "futureList",
	} {
		t.Run(patch, func(t *testing.T) {
			_, err := PatchTree(node(t, podTemplate), node(t, patch))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if err != nil && strings.Contains(err.Error(), "map[") {
				t.Errorf("the error prints objects: %v", err)
			}
		})
	}
}

func written(t *testing.T, n *tree.Node) string {
	t.Helper()
	if n == nil {
		return ""
	}
	b, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPatchTree_KeepsTheRest: what the patch does not mention is not re-encoded.
func TestPatchTree_KeepsTheRest(t *testing.T) {
	before := written(t, node(t, podTemplate))
	got, err := PatchTree(node(t, podTemplate), node(t, "spec: {terminationGracePeriodSeconds: 90}"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "terminationGracePeriodSeconds: 5", "terminationGracePeriodSeconds: 90", 1)
	if diff := cmp.Diff(want, written(t, got)); diff != "" {
		t.Error(diff)
	}
}

// FuzzPatchTree: any patch of any template gives a template or a fault.
func FuzzPatchTree(f *testing.F) {
	const end = "\x1e"
	texts := []string{
		podTemplate + end + "spec: {containers: [{name: main, env: [{name: SLOW, $patch: delete}]}]}",
		"spec: {containers: {a: b}}" + end + "spec: {containers: [{name: main}]}",
		"spec: [1]" + end + "spec: {containers: [1, {$patch: delete}]}",
		podTemplate + end + "$patch: replace",
		"spec: {containers: [{name: {a: b}}]}" + end + "spec: {containers: [{name: {a: b}}]}",
		podTemplate + end + "spec: {containers: [{$patch: merge, name: 1}], $setElementOrder/containers: [{name: x}]}",
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		template, patch, _ := strings.Cut(both, end)
		var a, b yaml.Node
		if yaml.Unmarshal([]byte(template), &a) != nil || yaml.Unmarshal([]byte(patch), &b) != nil {
			return
		}
		for _, n := range []*yaml.Node{&a, &b} {
			if _, err := tree.Expand(n, 0, tree.Limits{Nodes: 1000, Depth: 50}); err != nil {
				return
			}
		}
		if !tree.IsMap(tree.Root(&a)) || tree.IsNull(tree.Root(&b)) {
			return
		}
		if got, err := PatchTree(tree.Root(&a), tree.Root(&b)); err == nil && !tree.IsMap(got) {
			t.Errorf("the template became %v", got)
		}
	})
}
