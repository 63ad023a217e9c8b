package archtest

import (
	"go/ast"
	"testing"
)

// TestContexts_AreMadeByNew: no code outside pkg/render/stage makes a stage.Context by a literal or by
// new: what stage.New fills in would be missing, and a stage that asks for it would panic.
func TestContexts_AreMadeByNew(t *testing.T) {
	uses := 0
	eachFile(t, func(dir, path string, file *ast.File) {
		if dir == "pkg/render/stage" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if isContext(n.Type) {
					t.Errorf("%s makes a stage.Context by a literal: use stage.New", path)
				}
			case *ast.ValueSpec:
				if isContext(n.Type) {
					t.Errorf("%s declares an empty stage.Context: use stage.New", path)
				}
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "new" && isContext(n.Args[0]) {
					t.Errorf("%s makes a stage.Context by new: use stage.New", path)
				}
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "New" && isNamed(s.X, "stage") {
					uses++
				}
			}
			return true
		})
	})
	if uses == 0 {
		t.Error("no use of stage.New found: the search is broken")
	}
}

func isContext(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Context" && isNamed(s.X, "stage")
}

func isNamed(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
