package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kruise/kubectl-kruise/internal/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzToKinds: no input panics, and what was converted comes back.
func FuzzToKinds(f *testing.F) {
	for _, dir := range []string{"kruise-deployment", "kruise-statefulset", "kruise-cronjob", "kruise-budget", "native-everything"} {
		for _, r := range golden.Read(&testing.T{}, "testdata/"+dir, "input.yaml") {
			f.Add(string(r.Raw()))
		}
	}
	f.Add("apiVersion: apps/v1\nkind: Deployment\nmetadata: []\nspec: 3\n")
	f.Add("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {generateName: a-}\nspec: {template: null, updateStrategy: null}\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, side := range []string{"kruise", "native"} {
			in, err := load.Parse("input.yaml", []byte(text))
			if err != nil {
				return
			}
			there, err := convert.ToKinds(in, options(t, side))
			if err != nil || there.Converted != 1 || len(there.Resources) != 1 {
				continue
			}
			before, err := load.Parse("input.yaml", []byte(text))
			if err != nil || before[0].Annotation("kubectl-kruise.dev/converted-from") != "" {
				return // somebody made that up
			}
			other := map[string]string{"kruise": "native", "native": "kruise"}[side]
			back, err := convert.ToKinds(golden.Parse(t, golden.Text(t, there.Resources)), options(t, other))
			if err != nil {
				continue // which Kruise would refuse in the first place
			}
			if diff := cmp.Diff(meanings(t, before), meanings(t, back.Resources), cmpopts.IgnoreMapEntries(absent)); diff != "" {
				t.Errorf("did not come back (-was +is):\n%s", diff)
			}
		}
	})
}

// absent says which fields are as good as not there: to an API server null is, and a
// mapping with nothing else in it.
func absent(_ string, v any) bool {
	fields, ok := v.(map[string]any)
	for key, value := range fields {
		ok = ok && absent(key, value)
	}
	return v == nil || ok && len(fields) > 0
}
