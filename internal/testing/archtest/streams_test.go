package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStreams_AreOnlyThoseOfTheVerb: the product prints to the writers that a verb is given, through which no text
// of an input acts (internal/cli/media.go). Only the places in the list touch the process's
// own streams, and only programs that draw on a terminal go around the writers.
func TestStreams_AreOnlyThoseOfTheVerb(t *testing.T) {
	allowed := map[string][]string{
		"os.Stdout":   {"internal/cli/factory/factory.go", "pkg/render/load/isolated/isolated.go"},
		"os.Stderr":   {"internal/cli/factory/factory.go", "pkg/render/load/isolated/isolated.go", "pkg/render/load/isolated/confine.go", "pkg/render/load/kustomize.go"},
		"text.Unwrap": {"internal/cli/terminal/terminal.go", "internal/cli/rollout/teller.go", "internal/cli/factory/working.go"},
		"safe.Unwrap": {"internal/cli/inspect/describe_rollout.go"},
	}
	seen := map[string]bool{}
	tools := []string{"internal/testing", "internal/customizations", "internal/fidelity", "internal/krew", "internal/licenses"}
	eachFile(t, func(dir, path string, file *ast.File) {
		path = dir + "/" + filepath.Base(path)
		if inside(dir, tools) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := x.Name + "." + s.Sel.Name
			switch places, listed := allowed[name]; {
			case x.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print"):
				t.Errorf("%s prints to the process's own standard output", path)
			case listed && !slices.Contains(places, path):
				t.Errorf("%s uses %s: print to the streams that the verb is given", path, name)
			case listed:
				seen[name+" "+path] = true
			}
			return true
		})
	})
	for name, places := range allowed {
		for _, p := range places {
			if !seen[name+" "+p] {
				t.Errorf("%s uses %s no more: take it off the list", p, name)
			}
		}
	}
}
