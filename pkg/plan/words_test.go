package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestMessages_CountInSingularAndPlural: no message of the core is "1 pods": a number and its noun
// are written by package counted, unless the number cannot be 1.
func TestMessages_CountInSingularAndPlural(t *testing.T) {
	plural := regexp.MustCompile(`%d (\w+ )?(pods|nodes|steps|images|containers|workloads|budgets|replicas|fields|restarts|rollouts)\b`)
	never := map[string]bool{
		"all %d pods":                               true, // one is "the only pod"
		"all %d pods are":                           true,
		"%s (%d restarts): %s":                      true, // one is another message
		"%d nodes at a time":                        true,
		"%s and %d more images":                     true, // of at least three
		"budget %s: more than %d pods are recorded": true, // a constant
		"%d pods are more than the %d that a model of a cluster holds":    true,
		"annotation %s: %d of %d replicas, %d at a time, is no migration": true, // an attribute of an annotation
	}
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && name == "group" {
			return fs.SkipDir // it has counted words of its own
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && plural.MatchString(l.Value) && !never[strings.Trim(l.Value, "`\"")] {
				t.Errorf("%s: %s is wrong for 1: use package counted", files.Position(l.Pos()), l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
