package archtest

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolders_AreDocumented: docs/architecture.md has a row for every folder with Go code, and
// every row is a folder.
func TestFolders_AreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := documented(string(page))
	missing := map[string]bool{}
	eachFile(t, func(dir, _ string, _ *ast.File) {
		if _, ok := known[dir]; !ok && !missing[dir] {
			missing[dir] = true
			t.Errorf("%s has no row in docs/architecture.md", dir)
		}
	})
	for dir, below := range known {
		if !isFolder(dir) && !isFolder(below) {
			t.Errorf("docs/architecture.md has a row for %s, which is no folder", dir)
		}
	}
}

func isFolder(dir string) bool {
	info, err := os.Stat(filepath.Join("..", "..", "..", dir))
	return err == nil && info.IsDir()
}

// documented reads the block of code below the heading Folders: a word that ends in a slash
// is a folder, below the first one of the nearest row above with less indentation. The value
// is the path of a folder that the description of its row names, below the row's first folder.
func documented(page string) map[string]string {
	_, page, _ = strings.Cut(page, "\n## Folders\n")
	_, page, _ = strings.Cut(page, "\n```text\n")
	page, _, _ = strings.Cut(page, "\n```\n")
	found, above := map[string]string{}, map[int]string{-1: "."}
	for row := range strings.Lines(page) {
		indent := len(row) - len(strings.TrimLeft(row, " "))
		parent := -1
		for i := range above {
			if i < indent {
				parent = max(parent, i)
			}
		}
		maps.DeleteFunc(above, func(i int, _ string) bool { return i >= indent })
		for word := range strings.FieldsSeq(row) {
			name, ok := strings.CutSuffix(strings.Trim(word, "(),;:"), "/")
			if !ok {
				continue
			}
			dir := path.Join(above[parent], name)
			if above[indent] == "" {
				above[indent] = dir
			}
			found[dir] = path.Join(above[indent], name)
		}
	}
	return found
}
