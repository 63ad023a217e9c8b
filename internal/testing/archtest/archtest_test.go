// Package archtest holds no code: its test enforces who may know whom (docs/architecture.md).
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kubectl-kruise/kubectl-kruise/"

// pure are the rooms without clock, files and processes.
var pure = []string{"pkg/plan", "pkg/kruise", "pkg/tui"}

// fileless are rooms that may not touch files, but may use goroutines.
var fileless = []string{"pkg/render/check", "pkg/render/compare", "pkg/render/lint", "pkg/render/split", "pkg/render/lower", "pkg/render/convert", "pkg/render/sidecar", "pkg/render/fanout", "pkg/render/references", "pkg/render/admission", "pkg/render/placement", "pkg/render/resource", "pkg/render/finding", "pkg/render/stage", "pkg/render/load/linear", "pkg/render/argocd", "pkg/render/patches"}

var bannedCalls = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true}

var bannedImports = map[string]bool{"os": true, "os/exec": true, "net": true, "net/http": true, "syscall": true, "io/ioutil": true, "math/rand": true, "math/rand/v2": true}

func TestImports_FollowTheLayers(t *testing.T) {
	eachFile(t, func(dir, path string, f *ast.File) {
		row, ok := rowOf(dir)
		if !ok {
			t.Errorf("%s: package %s has no row in the allow-list", path, dir)
			return
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if name := strings.TrimPrefix(imp, module); foreign(imp) && !permitted(layer[row], name) {
				t.Errorf("%s: %s may not import %s", path, dir, name)
			}
		}
	})
}

func TestPurePackages_ImportNothingImpure(t *testing.T) {
	eachFile(t, func(dir, path string, f *ast.File) {
		if !inside(dir, pure) && !inside(dir, fileless) {
			return
		}
		for _, spec := range f.Imports {
			if imp, _ := strconv.Unquote(spec.Path.Value); bannedImports[imp] {
				t.Errorf("%s: a pure room may not import %s", path, imp)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && bannedCalls[sel.Sel.Name] {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s: a pure room may not call time.%s", path, sel.Sel.Name)
				}
			}
			return true
		})
	})
}

// TestLayers_HaveNoUnusedRow keeps the list honest: a row without a package is a leftover, and so
// is an import that no package of a row has.
func TestLayers_HaveNoUnusedRow(t *testing.T) {
	used := map[string]map[string]bool{}
	eachFile(t, func(dir, _ string, f *ast.File) {
		row, _ := rowOf(dir)
		if used[row] == nil {
			used[row] = map[string]bool{}
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			for _, entry := range layer[row] {
				if permitted([]string{entry}, strings.TrimPrefix(imp, module)) {
					used[row][entry] = true
				}
			}
		}
	})
	for row, entries := range layer {
		if used[row] == nil {
			t.Errorf("no package in %s: remove its row", row)
			continue
		}
		many := common(row)
		for _, entry := range entries {
			if !used[row][entry] && !many[entry] {
				t.Errorf("nothing in %s imports %s: remove it from its row", row, entry)
			}
		}
	}
}

// common are the entries of a row that it has from a list of many rows: no row needs
// all of them.
func common(row string) map[string]bool {
	out := map[string]bool{}
	for _, list := range [][]string{stageImports, screenImports(), planImports()} {
		if !slices.ContainsFunc(list, func(entry string) bool { return !slices.Contains(layer[row], entry) }) {
			for _, entry := range list {
				out[entry] = true
			}
		}
	}
	return out
}

// foreign reports whether imp is not of the standard library.
func foreign(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return strings.Contains(first, ".")
}

// rowOf is the folder whose row of the list counts for one: the deepest.
func rowOf(dir string) (string, bool) {
	for d := dir; d != "." && d != ""; d = filepath.Dir(d) {
		if _, ok := layer[d]; ok {
			return d, true
		}
	}
	return "", false
}

func permitted(rules []string, imp string) bool {
	for _, r := range rules {
		if r == imp {
			return true
		}
		if prefix, ok := strings.CutSuffix(r, "/..."); ok && strings.HasPrefix(imp, prefix+"/") {
			return true
		}
	}
	return false
}

func inside(dir string, rooms []string) bool {
	for _, r := range rooms {
		if dir == r || strings.HasPrefix(dir, r+"/") {
			return true
		}
	}
	return false
}

// eachFile parses every Go file of the product that is no test.
func eachFile(t *testing.T, f func(dir, path string, file *ast.File)) {
	t.Helper()
	top := filepath.Join("..", "..", "..")
	var paths []string
	for _, root := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(top, root), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if err == nil && strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") {
				paths = append(paths, p)
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	sort.Strings(paths)
	if len(paths) < 10 {
		t.Fatalf("only %d Go files found: the walk is broken", len(paths))
	}
	for _, p := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(top, p)
		f(filepath.ToSlash(filepath.Dir(rel)), filepath.ToSlash(rel), file)
	}
}
