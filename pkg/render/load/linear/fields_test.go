package linear

import (
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

// TestMerge_LosesNoField: neither kustomize's fields nor those of Kruise's kinds are lost when
// kustomize merges them: it would drop the first ones if the second ones repeated them.
func TestMerge_LosesNoField(t *testing.T) {
	config, err := kustomize.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	all, err := fieldsWith(config)
	if err != nil {
		t.Fatal(err)
	}
	have := all.flat()
	for _, text := range [][]byte{kustomize.BuiltIn, config} {
		f, err := parseFields(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, list := range f.flat() {
			for _, field := range list {
				if !slices.Contains(have[name], field) {
					t.Errorf("%s: %s is lost", name, field)
				}
			}
		}
	}
}

// flat lists the fields by what they are for.
func (f *fields) flat() map[string]types.FsSlice {
	out := map[string]types.FsSlice{}
	for i, l := range f.lists() {
		out[string(rune('a'+i))] = *l
	}
	for _, r := range f.NameReference {
		out[r.String()] = r.Referrers
	}
	return out
}
