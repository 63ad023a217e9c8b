package kustomize

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// taken are the constants of kustomize that fieldspecs.yaml is made of, in the order in
// which kustomize reads them.
var taken = []string{
	"namePrefixFieldSpecs", "nameSuffixFieldSpecs", "commonLabelFieldSpecs", "templateLabelFieldSpecs",
	"volumeClaimTemplateLabelFieldSpecs", "commonAnnotationFieldSpecs", "namespaceFieldSpecs",
	"nameReferenceFieldSpecs", "imagesFieldSpecs", "replicasFieldSpecs",
}

// TestFieldSpecs_AreThoseOfKustomize: fieldspecs.yaml is what the kustomize of go.mod has built in.
// UPDATE=1 writes it again.
func TestFieldSpecs_AreThoseOfKustomize(t *testing.T) {
	found := constants(t)
	text := header
	for _, name := range taken {
		text += found[name]
		delete(found, name)
	}
	delete(found, "varReferenceFieldSpecs")   // vars are left to kustomize
	delete(found, "metadataLabelsFieldSpecs") // a part of others
	for name := range found {
		if strings.HasSuffix(name, "FieldSpecs") {
			t.Errorf("kustomize has %s, which is not taken", name)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("fieldspecs.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(text, string(BuiltIn)); diff != "" {
		t.Errorf("fieldspecs.yaml is not kustomize's (UPDATE=1 writes it):\n%s", diff)
	}
}

// constants reads the texts of kustomize's room of constants.
func constants(t *testing.T) map[string]string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(dir)), "internal", "konfig", "builtinpluginconsts")
	packages, err := parser.ParseDir(token.NewFileSet(), folder, func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }, 0) //nolint:staticcheck // build tags play no part there
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]ast.Expr{}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				texts[v.Names[0].Name] = v.Values[0]
			}
			return true
		})
	}
	found := map[string]string{}
	for name, x := range texts {
		found[name] = value(t, texts, x)
	}
	return found
}

// value works out a constant text: a literal, a name, or a sum of such.
func value(t *testing.T, texts map[string]ast.Expr, x ast.Expr) string {
	t.Helper()
	switch x := x.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.Ident:
		return value(t, texts, texts[x.Name])
	case *ast.BinaryExpr:
		return value(t, texts, x.X) + value(t, texts, x.Y)
	}
	t.Fatalf("no constant text: %T", x)
	return ""
}

const header = `# The fields that kustomize's transformers change: a copy of what sigs.k8s.io/kustomize/api
# has built in and does not export (Apache License 2.0, The Kubernetes Authors).
# A test holds it to the version in go.mod, and writes it with UPDATE=1.
`
