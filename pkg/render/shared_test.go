package render_test

import (
	"io"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRender_LeavesOtherDocumentsAlone: documents share the nodes of their keys, and what becomes of
// one object shares what did not change. Rendering the same objects twice changes neither those that
// were read beside them nor, in its second half, what the first has made.
func TestRender_LeavesOtherDocumentsAlone(t *testing.T) {
	paths, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples", err)
	}
	rendered := 0
	for _, path := range paths {
		read := func() []*resource.Resource {
			rs, err := load.Load(t.Context(), load.Options{Files: []string{path}})
			if err != nil {
				return nil
			}
			return rs
		}
		first, second, aside := read(), read(), read()
		before := treesOf(aside)
		out, err := render.Render(t.Context(), first, render.Options{})
		if err != nil {
			continue
		}
		rendered++
		made := treesOf(out.Resources)
		if _, err := render.Render(t.Context(), second, render.Options{}); err != nil {
			t.Fatal(path, err)
		}
		if err := emit.Stream(io.Discard, out.Resources, stage.Limits{}); err != nil {
			t.Fatal(path, err)
		}
		for i, r := range aside {
			if !reflect.DeepEqual(before[i], r.Node()) {
				t.Errorf("%s: %s has changed", path, r.ID())
			}
		}
		for i, r := range out.Resources {
			if !reflect.DeepEqual(made[i], r.Node()) {
				t.Errorf("%s: %s has changed after it was made", path, r.ID())
			}
		}
	}
	if rendered < 10 {
		t.Errorf("only %d examples were rendered", rendered)
	}
}

func treesOf(rs []*resource.Resource) (out []*tree.Node) {
	for _, r := range rs {
		out = append(out, tree.Clone(r.Node()))
	}
	return out
}
