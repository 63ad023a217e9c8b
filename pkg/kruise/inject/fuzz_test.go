package inject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// FuzzInject feeds SidecarSets and a pod of any shape: nothing may panic, the
// pod that is handed in stays as it was, and what is injected stays so when it
// is injected again.
func FuzzInject(f *testing.F) {
	paths, err := filepath.Glob("testdata/examples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var texts []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		sets, pod := fuzzed(text)
		if pod == nil {
			return
		}
		Order(sets)
		choices, err := Choose(sets, targetOf(pod))
		if err != nil {
			return
		}
		before := tree.Value(pod)
		first, err := Inject(pod, Contents(choices), Options{})
		if diff := cmp.Diff(before, tree.Value(pod)); diff != "" {
			t.Fatalf("the pod that was handed in changed:\n%s", diff)
		}
		if err != nil || len(first.Replaced) > 0 {
			return
		}
		again, err := Inject(first.Pod, Contents(choices), Options{})
		if err != nil {
			t.Fatalf("the second injection fails: %v", err)
		}
		if again.Pod != first.Pod {
			t.Errorf("second injection (-first +second):\n%s", cmp.Diff(tree.Value(first.Pod), tree.Value(again.Pod)))
		}
	})
}

// fuzzed reads SidecarSets and the pod; what cannot be compiled is left out.
func fuzzed(text string) (sets []*Set, pod *tree.Node) {
	d := yaml.NewDecoder(strings.NewReader(text))
	for range 6 {
		var n yaml.Node
		if d.Decode(&n) != nil {
			break
		}
		if _, err := tree.Expand(&n, 0, tree.Limits{Nodes: 5000, Depth: 100}); err != nil {
			break
		}
		root := tree.Root(&n)
		switch tree.StrAt(root, "kind") {
		case "SidecarSet":
			if s, err := Compile(root, nil); err == nil {
				sets = append(sets, s)
			}
		case "Pod":
			pod = root
		}
	}
	return sets, pod
}

// FuzzEntries: the hashes that a pod is annotated with are read, in both forms, or refused.
func FuzzEntries(f *testing.F) {
	texts := []string{`{"agent": {"updateTimestamp": "2026-01-02T15:04:05Z", "hash": "x", "sidecarSetName": "agent", "sidecarList": ["a"], "controllerRevision": "r"}}`, `{"agent": "x"}`, "null"}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		if entries, err := readEntries(text); err == nil && entries == nil {
			t.Error("neither entries nor a fault")
		}
	})
}
