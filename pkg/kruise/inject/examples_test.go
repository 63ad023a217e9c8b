package inject

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// example is one file of testdata/examples: SidecarSets, a Pod, and what is
// wanted (docs/kruise/sidecarset.md#worked-examples).
type example struct {
	sets []*Set
	pod  *tree.Node
	want map[string]any
}

func readExample(tb testing.TB, path string) example {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	docs, err := conformance.Docs(data)
	if err != nil {
		tb.Fatal(err)
	}
	var e example
	for _, d := range docs {
		n := tree.FromValue(d)
		switch d["kind"] {
		case "SidecarSet":
			s, err := Compile(n, nil)
			if err != nil {
				tb.Fatal(err)
			}
			e.sets = append(e.sets, s)
		case "Pod":
			e.pod = n
		case "Want":
			e.want = d
		}
	}
	Order(e.sets)
	return e
}

func (e example) inject(pod *tree.Node) (*Result, error) {
	choices, err := Choose(e.sets, targetOf(pod))
	if err != nil {
		return nil, err
	}
	sorted, _ := e.want["sortContainers"].(bool)
	return Inject(pod, Contents(choices), Options{SortContainers: sorted})
}

func targetOf(pod *tree.Node) *Target {
	return &Target{
		Labels:          tree.Strings(tree.Get(pod, "metadata", "labels")),
		NamespaceLabels: map[string]string{kruise.NamespaceNameLabel: "default"}, NamespaceKnown: true,
		Key: tree.StrAt(pod, "metadata", "name"),
	}
}

func TestInject_EqualsExamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/examples/*.yaml")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d examples found: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			e := readExample(t, path)
			before := tree.Value(e.pod)
			got, err := e.inject(e.pod)
			if diff := cmp.Diff(before, tree.Value(e.pod)); diff != "" {
				t.Fatalf("the pod that was handed in changed:\n%s", diff)
			}
			if want, ok := e.want["error"].(string); ok {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("error %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e.check(t, got)
			again, err := e.inject(got.Pod)
			if err != nil {
				t.Fatal(err)
			}
			if again.Pod != got.Pod {
				t.Errorf("a second injection changed the pod:\n%s", cmp.Diff(tree.Value(got.Pod), tree.Value(again.Pod)))
			}
		})
	}
}

func (e example) check(t *testing.T, got *Result) {
	t.Helper()
	want := map[string]any{"kind": "Pod", "metadata": e.want["metadata"], "spec": e.want["spec"]}
	if diff := cmp.Diff(want, tree.Value(got.Pod)); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(texts(e.want["replaced"]), got.Replaced); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if want, ok := e.want["priorities"]; ok {
		priorities, err := LaunchPriorities(got.Pod)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(priorities)); diff != "" {
			t.Errorf("launch priorities (-want +got):\n%s", diff)
		}
	}
	lists, _ := e.want["sidecars"].(map[string]any)
	for name, list := range lists {
		i := slices.IndexFunc(e.sets, func(s *Set) bool { return s.Name == name })
		if diff := cmp.Diff(texts(list), e.sets[i].current.Sidecars()); diff != "" {
			t.Errorf("sidecarList of %s (-want +got):\n%s", name, diff)
		}
	}
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, item := range list {
		out = append(out, item.(string))
	}
	return out
}
