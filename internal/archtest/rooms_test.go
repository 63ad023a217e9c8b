package archtest

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestRooms: every folder with Go code stands in the plan of docs/architecture.md.
func TestRooms(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := rooms(string(page))
	missing := map[string]bool{}
	eachFile(t, func(dir, _ string, _ *ast.File) {
		if !known[dir] && !missing[dir] {
			missing[dir] = true
			t.Errorf("%s has no row in docs/architecture.md", dir)
		}
	})
}

// rooms reads the first block of code: a word that ends in a slash is a folder, below
// the first one of the row that is indented less.
func rooms(page string) map[string]bool {
	_, page, _ = strings.Cut(page, "\n```text\n")
	page, _, _ = strings.Cut(page, "\n```\n")
	found, above := map[string]bool{}, map[int]string{-1: "."}
	for row := range strings.Lines(page) {
		indent := len(row) - len(strings.TrimLeft(row, " "))
		parent := -1
		for i := range above {
			if i < indent {
				parent = max(parent, i)
			}
		}
		delete(above, indent)
		for word := range strings.FieldsSeq(row) {
			name, ok := strings.CutSuffix(strings.Trim(word, "(),;:"), "/")
			if !ok {
				continue
			}
			dir := path.Join(above[parent], name)
			found[dir] = true
			if above[indent] == "" {
				above[indent] = dir
			}
		}
	}
	return found
}
