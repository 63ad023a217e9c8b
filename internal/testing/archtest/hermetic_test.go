package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownSurroundings are the test packages that need no hermetic.Main: this one reads files
// alone, Argo CD's module cannot import ours and starts its server with a list of
// variables, Flux's decodes files of ours alone, and hermetic tests itself.
var ownSurroundings = []string{"internal/testing/archtest", "internal/testing/hermetic", "test/argocd", "test/flux"}

// TestTestPackages_AreHermetic holds every package with tests to an environment of its
// own: its TestMain uses package hermetic. Pure rooms see no environment.
func TestTestPackages_AreHermetic(t *testing.T) {
	enters := map[string]bool{}
	for _, root := range []string{"cmd", "internal", "pkg", "test"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", root), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
				return err
			}
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(p)), "../../../")
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				return err
			}
			enters[dir] = enters[dir] || usesHermetic(f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(enters) < 100 {
		t.Fatalf("only %d packages with tests found: the walk is broken", len(enters))
	}
	for dir, ok := range enters {
		if exempt := inside(dir, pure) || inside(dir, fileless) || slices.Contains(ownSurroundings, dir); !ok && !exempt {
			t.Errorf("%s: tests use the environment of the machine; add func TestMain(m *testing.M) { hermetic.Main(m) }", dir)
		}
	}
}

// usesHermetic reports whether a file has a TestMain and calls package hermetic.
func usesHermetic(f *ast.File) bool {
	var main, calls bool
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			main = main || n.Name.Name == "TestMain"
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "hermetic" {
				calls = true
			}
		}
		return true
	})
	return main && calls
}

// TestHermetic_IsInTestBinariesAlone: it replaces the environment of each program that
// contains it.
func TestHermetic_IsInTestBinariesAlone(t *testing.T) {
	files := 0
	for _, root := range []string{"cmd", "internal", "pkg", "test"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", root), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			files++
			for _, i := range f.Imports {
				if strings.HasSuffix(strings.Trim(i.Path.Value, `"`), "/internal/testing/hermetic") {
					t.Errorf("%s imports package hermetic, which is for tests; names of variables are in package testenv", p)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 500 {
		t.Fatalf("only %d files found: the walk is broken", files)
	}
}
