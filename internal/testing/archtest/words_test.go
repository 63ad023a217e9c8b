package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// words that no text of the program has, each with what docs/glossary.md#words has instead.
var words = []struct {
	bad    *regexp.Regexp
	better string
}{
	{regexp.MustCompile(`(?i)\banew\b`), "again, recreated"},
	{regexp.MustCompile(`(?i)\bsomebody\b`), "a user, or the passive with a named actor"},
	{regexp.MustCompile(`(?i)\bnobody\b`), "no controller, no process, unmanaged"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "the owner, a user"},
	{regexp.MustCompile(`(?i)\bshall\b`), "should, must, will"},
	{regexp.MustCompile(`(?i)\blately\b`), "recently, or the time"},
	{regexp.MustCompile(`(?i)\bon record\b`), "recorded"},
	{regexp.MustCompile(`(?i)\bunder way\b`), "in progress"},
	{regexp.MustCompile(`(?i)\btak(e|es|en) back\b`), "roll back, undo"},
	{regexp.MustCompile(`(?i)\blook out for\b`), "warnings"},
	{regexp.MustCompile(`(?i)\bhas halted\b`), "failed"},
	{regexp.MustCompile(`(?i)\bmade again\b`), "recreated"},
	{regexp.MustCompile(`(?i)\bof ours\b`), "of kubectl kruise"},
	{regexp.MustCompile(`(?i)\bstuck\b`), "blocked"},
	{regexp.MustCompile(`(?i)\b(is|are|stands?) in the way\b`), "blocks, prevents"},
	{regexp.MustCompile(`(?i)\bdriven by\b`), "run by"},
	{regexp.MustCompile(`(?i)\b(is|are) none of\b`), "is not, does not belong to"},
	{regexp.MustCompile(`(?i)\bpods made\b`), "pods created"},
	{regexp.MustCompile(`(?i)\bwhere Kruise (runs|takes|answers|chooses)\b`), "with Kruise, whereas Kruise"},
	{regexp.MustCompile(`(?i)\bso many (pods|nodes|steps)\b`), "the number, or how many"},
	{regexp.MustCompile(`(?i)\bgoes? astray\b`), "leads nowhere"},
	{regexp.MustCompile(`(?i)\bcomes? to no\b`), "fails"},
}

// TestWords_Plain: strings of the program use the words of the glossary, so that a reader
// finds in messages and help what Kubernetes and its tools call things.
func TestWords_Plain(t *testing.T) {
	eachText(t, func(where, text string) {
		for _, w := range words {
			if m := w.bad.FindString(text); m != "" {
				t.Errorf("%s: %q in %q: write %s", where, m, text, w.better)
			}
		}
	})
}

// eachText calls visit with each string of the program and each line of the files that it embeds,
// and the position.
func eachText(t *testing.T, visit func(where, text string)) {
	t.Helper()
	found := 0
	for _, top := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case strings.HasSuffix(path, ".yaml"):
				found++
				return eachLine(path, visit)
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, s := range texts(file) {
				found++
				visit(fset.Position(s.pos).String(), s.text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 5000 {
		t.Errorf("only %d strings found: the walk is broken", found)
	}
}

func eachLine(path string, visit func(where, text string)) error {
	b, err := os.ReadFile(path)
	for i, line := range strings.Split(string(b), "\n") {
		visit(path+":"+strconv.Itoa(i+1), line)
	}
	return err
}

// text is one string of a file.
type text struct {
	text string
	pos  token.Pos
}

// texts are the strings of a file, without import paths and struct tags.
func texts(file *ast.File) []text {
	var out []text
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if s, err := strconv.Unquote(n.Value); err == nil {
					out = append(out, text{s, n.Pos()})
				}
			}
		}
		return true
	})
	return out
}

// TestWords_AreFound: the check finds a word in any sort of string, and in no import or tag.
func TestWords_AreFound(t *testing.T) {
	const source = "package p\n\nimport _ \"nobody/anew\"\n\ntype t struct{ A int `json:\"anew\"` }\n\nconst a = \"made anew\"\n\nvar b = `nobody`\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range texts(file) {
		got = append(got, s.text)
	}
	if strings.Join(got, "|") != "made anew|nobody" {
		t.Errorf("%q", got)
	}
}
