package redact

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write phrases.txt from the sources of the libraries")

// libraries are the modules whose errors pass [Message].
var libraries = []string{
	"sigs.k8s.io/kustomize/api", "sigs.k8s.io/kustomize/kyaml", "go.yaml.in/yaml/v2", "go.yaml.in/yaml/v3", "sigs.k8s.io/yaml", "sigs.k8s.io/json", "gopkg.in/evanphx/json-patch.v4",
}

// TestPhrases_AreThoseOfTheLibraries: phrases.txt has the fixed parts of the messages of
// the versions in go.mod.
func TestPhrases_AreThoseOfTheLibraries(t *testing.T) {
	found := map[string]bool{}
	for _, library := range libraries {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", library).Output()
		if err != nil {
			t.Fatalf("%s: %v", library, err)
		}
		collect(t, strings.TrimSpace(string(dir)), found)
	}
	want := strings.Join(slices.Sorted(maps.Keys(found)), "\n") + "\n"
	if *update {
		if err := os.WriteFile("phrases.txt", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(phrasesText, want); diff != "" {
		t.Errorf("run the test with -update:\n%s", diff)
	}
}

// makers are functions that make messages.
var makers = regexp.MustCompile(`^(Errorf?|Wrap.*|New|WithMessage.*|Sprintf|yaml_parser_set_.*|fail.*|wrapf?|errorf|fatalf?|panic|Join)$`)

func collect(t *testing.T, dir string, into map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if makers.MatchString(called(n)) {
					literals(n, into)
				}
			case *ast.GenDecl: // messages are constants and variables, too
				if n.Tok == token.CONST || n.Tok == token.VAR {
					literals(n, into)
				}
			case *ast.ReturnStmt: // of methods Error
				literals(n, into)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)

// literals adds the parts of strings between what is filled in.
func literals(in ast.Node, into map[string]bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(l.Value)
		if err != nil || len(text) > 400 || strings.Contains(text, "{{") || strings.Contains(text, "://") {
			return true
		}
		for _, part := range verb.Split(text, -1) {
			if part = phrase(part); usable(part) {
				into[part] = true
			}
		}
		return true
	})
}
