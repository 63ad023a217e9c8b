package patches_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden takes the requests out of testdata/CASE/input.yaml: context.yaml holds
// the objects of the cluster, patches.txt the files that the requests become.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, golden.Read(t, dir, "context.yaml"))
			c.Patches = !strings.HasSuffix(dir, "-paused")
			var sequences []patches.Sequence
			golden.Stage(t, dir, c, in, func(c *stage.Context, in []*resource.Resource) (out []*resource.Resource, err error) {
				out, sequences, err = patches.Requests(c, in)
				return out, err
			})
			files, err := patches.Files(patches.Set{Sequences: sequences})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, f := range files[1:] { // but the README, which has the same
				text.WriteString("==> " + f.Name + "\n" + string(f.Body))
			}
			golden.Same(t, filepath.Join(dir, "patches.txt"), text.String())
		})
	}
}

func newContext(in, around []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, around, ""), stage.Options{Expand: stage.ExpandAll})
}
