package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostWords is how long README and the pages of docs may be together, without those that are generated and
// those about Kruise and its neighbours, which the code cites.
const mostWords = 40_000

// TestPages_AreShort: who adds a page or a section shortens another.
func TestPages_AreShort(t *testing.T) {
	total := 0
	for _, pattern := range []string{"README*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(strings.ToLower(first), "generated") {
				total += len(strings.Fields(string(text)))
			}
		}
	}
	if total > mostWords || total < mostWords/2 {
		t.Errorf("%d words, at most %d", total, mostWords)
	}
}

// TestPages_BeginWithTheirReader: the first sentence of a page is about what its reader wants to do, not about the page.
func TestPages_BeginWithTheirReader(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# ") })
		for at++; at < len(lines) && (lines[at] == "" || strings.HasPrefix(lines[at], "<!--") || strings.HasPrefix(lines[at], "[中文]") || strings.HasPrefix(lines[at], "[English]")); at++ {
		}
		if at >= len(lines) || strings.HasPrefix(lines[at], "#") || strings.HasPrefix(lines[at], "|") || strings.HasPrefix(lines[at], "This page") || strings.Contains(lines[at], "Who needs") {
			t.Errorf("%s begins with %q", filepath.Base(file), lines[min(at, len(lines)-1)])
		}
	}
}

// TestPages_UseTheWordsOfTheGlossary: pages keep to the words that the texts of the program keep to.
func TestPages_UseTheWordsOfTheGlossary(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range append(files, filepath.Join("..", "..", "..", "README.md")) {
		if filepath.Base(file) == "glossary.md" { // which lists them
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prose := strings.NewReplacer("stuck.svg", "").Replace(string(text)) // the name of a picture
		for _, w := range words {
			if m := w.bad.FindString(prose); m != "" {
				t.Errorf("%s: %q: write %s", filepath.Base(file), m, w.better)
			}
		}
	}
}
