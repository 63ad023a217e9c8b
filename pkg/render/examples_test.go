package render_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// TestExamples_EqualGolden renders examples/KIND/app.yaml, with with.yaml as what is in the
// cluster, base.yaml as the state before and config.yaml as the options where there are
// such files, and compares with rendered.yaml beside it.
func TestExamples_EqualGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "../../examples/*/app.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			opt := options(t, dir)
			opt.Context, opt.Base, opt.Patches = golden.Read(t, dir, "with.yaml"), golden.Read(t, dir, "base.yaml"), true
			out, err := render.Render(t.Context(), golden.Read(t, dir, "app.yaml"), opt)
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join(dir, "rendered.yaml"), golden.Text(t, out.Resources))
			samePatches(t, filepath.Join(dir, "patches"), out.Sequences)
		})
	}
}

// options are those of config.yaml in the folder, if there is one.
func options(t *testing.T, dir string) render.Options {
	t.Helper()
	var n *tree.Node
	for _, r := range golden.Read(t, dir, "config.yaml") {
		n = r.Node()
	}
	c, err := render.ReadConfig(n)
	if err != nil {
		t.Fatal(err)
	}
	return c.Options
}

// samePatches compares the files of sequences, as --patches-dir writes them.
func samePatches(t *testing.T, dir string, sequences []patches.Sequence) {
	t.Helper()
	if len(sequences) == 0 {
		return
	}
	files, err := patches.Files(patches.Set{Sequences: sequences})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if os.Getenv("UPDATE") != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
		}
		golden.Same(t, path, string(f.Body))
	}
}

// TestExamples_OfAllKinds: each kind has an example. Those
// that only Kruise's own controllers write need none.
func TestExamples_OfAllKinds(t *testing.T) {
	shown := map[string]bool{}
	for _, dir := range golden.Cases(t, "../../examples/*/app.yaml") {
		for _, r := range golden.Read(t, dir, "app.yaml") {
			shown[r.Group()+"/"+r.Kind()] = true
		}
	}
	for _, k := range kruise.Kinds() {
		if !shown[k.Group+"/"+k.Kind] && k.Kind != "NodePodProbe" {
			t.Errorf("no example shows a %s", k.Kind)
		}
	}
}

// TestDescriptors_NameTheKindsOfTheOutput: what an example of one kind becomes is of the kinds that the
// descriptor names, and of each kind that becomes objects there is an example.
func TestDescriptors_NameTheKindsOfTheOutput(t *testing.T) {
	shown := map[string]bool{}
	for _, dir := range slices.Concat(golden.Cases(t, "../../examples/*/rendered.yaml"), golden.Cases(t, "lower/testdata/*/expected.yaml")) {
		in := append(golden.Read(t, dir, "app.yaml"), golden.Read(t, dir, "input.yaml")...)
		given, ours := map[string]bool{}, map[string]kruise.Registered{}
		for _, r := range in {
			given[r.Group()+"/"+r.Kind()+"/"+r.Name()] = true
			if k, ok := kruise.Lookup(r.Group(), r.Kind()); ok {
				ours[k.Kind] = k
			}
		}
		var allowed []string
		for _, k := range ours {
			allowed = append(allowed, k.ExpandsTo...)
		}
		for _, r := range append(golden.Read(t, dir, "rendered.yaml"), golden.Read(t, dir, "expected.yaml")...) {
			_, kept := kruise.Lookup(r.Group(), r.Kind())
			switch {
			case kept || given[r.Group()+"/"+r.Kind()+"/"+r.Name()], len(ours) == 0:
			case !slices.Contains(allowed, r.Kind()):
				t.Errorf("%s: a %s comes of %v", dir, r.Kind(), slices.Sorted(maps.Keys(ours)))
			default:
				for _, k := range ours {
					shown[k.Kind] = true
				}
			}
		}
	}
	for _, k := range kruise.Kinds() {
		if k.Expansion == kruise.ExpansionObjects && !shown[k.Kind] {
			t.Errorf("nothing shows what a %s becomes", k.Kind)
		}
	}
}
