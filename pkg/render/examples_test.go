package render_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// TestExamples renders examples/KIND/app.yaml, with with.yaml as what is in the
// cluster where there is one, and compares with rendered.yaml beside it.
func TestExamples(t *testing.T) {
	for _, dir := range golden.Cases(t, "../../examples/*/app.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			out, err := render.Render(golden.Read(t, dir, "app.yaml"), render.Options{Context: golden.Read(t, dir, "with.yaml")})
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join(dir, "rendered.yaml"), golden.Text(t, out.Resources))
		})
	}
}
