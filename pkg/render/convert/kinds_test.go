package convert_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestToKinds_EqualsGolden converts testdata/CASE/input.yaml to what the case's name begins
// with, and back again.
func TestToKinds_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			side, _, _ := strings.Cut(filepath.Base(dir), "-")
			in := golden.Read(t, dir, "input.yaml")
			there := to(t, side, in)
			golden.Same(t, filepath.Join(dir, "expected.yaml"), text(t, there.Resources))
			golden.Same(t, filepath.Join(dir, "findings.txt"), golden.Findings(there.Findings))
			comesBack(t, golden.Read(t, dir, "input.yaml"), there.Resources)
		})
	}
}

// TestToKinds_RoundTripsInputsOfLower takes the inputs of lowering there and back.
func TestToKinds_RoundTripsInputsOfLower(t *testing.T) {
	for _, dir := range golden.Cases(t, "../lower/testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			for _, r := range in {
				alone := []*resource.Resource{r}
				there, err := convert.ToKinds(t.Context(), golden.Parse(t, text(t, alone)), options(t, "native"))
				if err != nil || there.Converted == 0 || refused(r) {
					continue // which no counterpart can hold, or Kruise would not take
				}
				comesBack(t, alone, there.Resources)
			}
		})
	}
}

// refused reports whether Kruise would refuse an object.
func refused(r *resource.Resource) bool {
	c := stage.New(nil, stage.Options{Kruise: kruise.Next})
	return len(check.Object(c, check.Request{Object: r})) > 0
}

// comesBack converts what was made of in to the other side. It must mean what
// in meant, and a second way there must give the same again.
func comesBack(t *testing.T, in, there []*resource.Resource) {
	t.Helper()
	side := "native"
	if slices.ContainsFunc(in, func(r *resource.Resource) bool { return strings.HasSuffix(r.Group(), "kruise.io") }) {
		side = "kruise"
	}
	first := text(t, there)
	back := to(t, side, golden.Parse(t, first))
	if diff := cmp.Diff(meanings(t, in), meanings(t, back.Resources)); diff != "" {
		t.Errorf("did not come back (-was +is):\n%s\nbetween:\n%s", diff, first)
	}
}

func options(t *testing.T, words ...string) convert.Options {
	t.Helper()
	targets, err := convert.ParseTargets(words)
	if err != nil {
		t.Fatal(err)
	}
	return convert.Options{Targets: targets, Namespace: "shop"}
}

func to(t *testing.T, side string, in []*resource.Resource) *convert.Result {
	t.Helper()
	res, err := convert.ToKinds(t.Context(), in, options(t, side))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// meanings are the objects as values, those of Kruise in the newest version with
// the version that they were written in.
func meanings(t *testing.T, list []*resource.Resource) []any {
	t.Helper()
	out := make([]any, len(list))
	for i, r := range list {
		hub, _, err := kruise.ToHub(tree.Clone(tree.Root(r.Node())))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := tree.Value(hub).(map[string]any)
		m["apiVersion"] = r.APIVersion()
		delete(m, "status")
		ofCluster(m["metadata"].(map[string]any))
		out[i] = m
	}
	return out
}

// ofCluster takes away what no file has.
func ofCluster(metadata map[string]any) {
	for _, key := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
		delete(metadata, key)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	maps.DeleteFunc(annotations, func(key string, _ any) bool {
		return strings.HasPrefix(key, "kubectl.kubernetes.io/") || strings.HasPrefix(key, "deployment.kubernetes.io/") || strings.HasPrefix(key, "deprecated.")
	})
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}
