package convert_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzToKinds: no input panics, and what was converted comes back.
func FuzzToKinds(f *testing.F) {
	texts := []string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: []\nspec: 3\n",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {generateName: a-}\nspec: {template: null, updateStrategy: null}\n",
	}
	for _, dir := range []string{"kruise-deployment", "kruise-statefulset", "kruise-cronjob", "kruise-budget", "native-everything"} {
		for _, r := range golden.Read(&testing.T{}, "testdata/"+dir, "input.yaml") {
			texts = append(texts, string(r.Raw()))
		}
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		for _, side := range []string{"kruise", "native"} {
			in, err := load.Parse("input.yaml", []byte(text))
			if err != nil {
				return
			}
			there, err := convert.ToKinds(t.Context(), in, options(t, side))
			if err != nil || there.Converted != 1 || len(there.Resources) != 1 {
				continue
			}
			before, err := load.Parse("input.yaml", []byte(text))
			if err != nil || before[0].Annotation("kubectl-kruise.dev/converted-from") != "" {
				return // not a value that conversion writes
			}
			other := map[string]string{"kruise": "native", "native": "kruise"}[side]
			back, err := convert.ToKinds(t.Context(), golden.Parse(t, golden.Text(t, there.Resources)), options(t, other))
			if err != nil {
				continue // which Kruise would refuse in the first place
			}
			was := meanings(t, before)
			if diff := cmp.Diff(was, meanings(t, back.Resources)); diff != "" && !nulls(was) {
				t.Errorf("did not come back (-was +is):\n%s", diff)
			}
		}
	})
}

// nulls reports whether there is a null somewhere, which is as good as no field, and so
// need not come back.
func nulls(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), nulls)
	case []any:
		return slices.ContainsFunc(v, nulls)
	}
	return false
}
