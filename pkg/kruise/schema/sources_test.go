package schema

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSources_AreUpToDate reads the comments and constants of package kruise and compares
// them with sources.json; UPDATE=1 in the environment writes it again.
func TestSources_AreUpToDate(t *testing.T) {
	got := written{Comments: map[string]string{}, Values: map[string][]string{}}
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			ast.Inspect(f, got.look)
		}
	}
	b, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("sources.json", append(b, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(readSources(), got); diff != "" {
		t.Errorf("UPDATE=1 go test writes sources.json again:\n%s", diff)
	}
}

func (w written) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok {
				w.note(s.Name.Name, n.Doc)
			}
		}
	case *ast.TypeSpec:
		if s, ok := n.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					w.note(n.Name.Name+"."+name.Name, f.Doc)
				}
			}
		}
	case *ast.ValueSpec:
		w.constant(n)
	case *ast.FuncDecl:
		return false
	}
	return true
}

// note keeps a comment as one line, without what only the sources refer to.
func (w written) note(name string, doc *ast.CommentGroup) {
	text := strings.Join(strings.Fields(doc.Text()), " ")
	if i := strings.Index(text, " (docs/"); i >= 0 {
		text = text[:i] + text[i+strings.IndexByte(text[i:], ')')+1:]
	}
	if text = strings.NewReplacer("[", "", "]", "").Replace(text); text != "" {
		w.Comments[name] = text
	}
}

func (w written) constant(n *ast.ValueSpec) {
	t, ok := n.Type.(*ast.Ident)
	if !ok || len(n.Values) != 1 {
		return
	}
	if lit, ok := n.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if v, err := strconv.Unquote(lit.Value); err == nil {
			w.Values[t.Name] = append(w.Values[t.Name], v)
		}
	}
}
