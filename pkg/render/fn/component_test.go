package fn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

// TestComponent_FilesAreUpToDate: the files of the Component are what this version knows of Kruise's
// kinds; make generate writes them.
func TestComponent_FilesAreUpToDate(t *testing.T) {
	for name, document := range map[string]func() ([]byte, error){"kruise-schema.json": kustomize.Schema, "kruise-config.yaml": kustomize.Configuration} {
		b, err := document()
		if err != nil {
			t.Fatal(err)
		}
		golden.Same(t, filepath.Join("../../../plugins/kustomize/component", name), strings.TrimRight(string(b), "\n")+"\n")
	}
}
