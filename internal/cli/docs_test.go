package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs_CommandLinesParse: what pages show of this program, also in blocks that no test runs, is
// a command line that it takes.
func TestDocs_CommandLinesParse(t *testing.T) {
	count := 0
	for _, glob := range []string{"README*.md", "docs/*.md", "plugins/*/*.md", "examples/*.md"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range commandLines(fenced(string(text))) {
				count++
				if _, err := parse(args); err != nil {
					t.Errorf("%s: %q: %v", page, args, err)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d commands were found", count)
	}
}

// fenced are the lines within fences, without prompts.
func fenced(text string) string {
	var out strings.Builder
	within := false
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") {
			within = !within
		} else if within {
			out.WriteString(strings.TrimPrefix(line, "$ "))
		}
	}
	return out.String()
}
