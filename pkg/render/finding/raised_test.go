package finding_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// TestRules_AreRaisedByCode: the catalogues have each ID that the renderer and lint write, and the
// code has each ID of the catalogues. That of a finding is whole, behind its kind, or put together
// from what two cases share and "-client".
func TestRules_AreRaisedByCode(t *testing.T) {
	texts, prefixes := textsOfCode(t), map[string]bool{}
	for _, r := range finding.Rules() {
		prefix, _, _ := strings.Cut(r.ID, "/")
		prefixes[prefix] = true
		if !raised(texts, r.ID) {
			t.Errorf("no code raises %s", r.ID)
		}
	}
	linted := map[string]bool{} // and whether code has the ID: it has not where the fields of a rule raise it
	for _, r := range lint.Rules() {
		prefix, _, _ := strings.Cut(r.ID, "/")
		prefixes[prefix], linted[r.ID] = true, true
	}
	for _, r := range check.Rules() {
		if r.Kind != "" {
			linted[r.ID] = false
		}
	}
	for id, written := range linted {
		if written && !texts[id] {
			t.Errorf("no code raises %s", id)
		}
	}
	for text := range texts {
		prefix, _, _ := strings.Cut(text, "/")
		_, refused := linted[text]
		if prefixes[prefix] && ruleID.MatchString(text) && !finding.Known(text) && !refused {
			t.Errorf("code raises %s, which no catalogue has", text)
		}
	}
}

// raised reports whether the code writes the ID, or its parts.
func raised(texts map[string]bool, id string) bool {
	_, name, _ := strings.Cut(id, "/")
	if texts[id] || texts[name] || texts["/"+name] {
		return true
	}
	for i := range name {
		first, last := name[:i], name[i:]
		if last[0] == '-' && texts[last] && (texts[strings.TrimSuffix(id, last)] || texts[first] || texts["/"+first]) {
			return true
		}
	}
	return false
}

func TestRaised_FindsWhatNoCodeRaises(t *testing.T) {
	texts := map[string]bool{"cloneset/a": true, "/b": true, "-client": true}
	for id, want := range map[string]bool{
		"cloneset/a": true, "cloneset/a-client": true, "cloneset/b": true, "cloneset/b-client": true,
		"cloneset/c": false, "cloneset/c-client": false, "cloneset/a-statefulset": false, "daemonset/a": false,
	} {
		if raised(texts, id) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
}

// textsOfCode are the texts in the code that raises findings.
func textsOfCode(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		// What lint refuses has short names of its own.
		short := !strings.HasPrefix(path, filepath.Join("..", "check")) && !strings.HasPrefix(path, filepath.Join("..", "lint"))
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && (short || ruleID.MatchString(text)) {
					out[text] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
