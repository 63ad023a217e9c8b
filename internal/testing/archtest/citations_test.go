package archtest

import (
	"archive/zip"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citation = regexp.MustCompile(`\b((?:docs|test|plugins)/[\w./-]+\.md|CONTRIBUTING\.md|README\.md)(?:#([\w-]+))?`)
	// outside are notes that no clone of the repository holds.
	outside     = regexp.MustCompile(`\b(semantics (workloads|sidecarset|fanout)|(contracts|node-facts|older-plugin) \d|DESIGN section)`)
	heading     = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	link        = regexp.MustCompile(`\]\(([^)\s:]+\.md)?(?:#([\w-]+))?\)`)
	yamlComment = regexp.MustCompile(`(?m)^# .*`)
	// recorded is a case of a conformance area: rollout/016.
	recorded = regexp.MustCompile(`\b(conversion|distribution|injection|jobs|lint|rollout|spread|state|subsets)/(\d{3})\b`)
)

// TestCitations_Resolve: each page and heading that a comment names exists, so that a reader
// of the code can follow it.
func TestCitations_Resolve(t *testing.T) {
	top, known, found := filepath.Join("..", "..", ".."), pages{}, 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "out" || d.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".yaml") && strings.HasPrefix(path, filepath.Join(top, "pkg")):
			b, err := os.ReadFile(path)
			found += checkCitations(t, known, path, strings.Join(yamlComment.FindAllString(string(b), -1), " "))
			return err
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			found += checkCitations(t, known, path, strings.Join(strings.Fields(group.Text()), " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 300 {
		t.Errorf("only %d citations found: the walk is broken", found)
	}
}

// checkCitations reports what a comment cites and a reader cannot find, and returns how many
// pages it cites.
func checkCitations(t *testing.T, known pages, path, comment string) int {
	t.Helper()
	if m := outside.FindString(comment); m != "" && filepath.Base(path) != "citations_test.go" {
		t.Errorf("%s cites %q, which is not in the repository", path, m)
	}
	cited := citation.FindAllStringSubmatch(comment, -1)
	for _, m := range cited {
		if fault := known.has(m[1], m[2]); fault != "" {
			t.Errorf("%s cites %s: %s", path, m[0], fault)
		}
	}
	return len(cited)
}

// TestPages_Resolve: links between pages lead to headings that exist, and each recorded case that
// they name is among the recordings.
func TestPages_Resolve(t *testing.T) {
	known, cases := pages{}, map[string][]string{}
	for _, pattern := range []string{
		"README*.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/fidelity/*.md", "docs/reference/*.md", "docs/kruise/*.md", "docs/facts/*.md",
		"examples/README.md", "test/README.md", "plugins/*/README.md", "plugins/*/*/README.md",
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(data), -1) {
				target := file
				if m[1] != "" {
					target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
				}
				rel, err := filepath.Rel(filepath.Join("..", "..", ".."), target)
				if err != nil {
					t.Fatal(err)
				}
				if err := known.has(filepath.ToSlash(rel), m[2]); err != "" {
					t.Errorf("%s links to %s: %s", file, m[0], err)
				}
			}
			for _, m := range recorded.FindAllStringSubmatch(string(data), -1) {
				if !isRecorded(t, cases, m[1], m[2]) {
					t.Errorf("%s names the recording %s, which testdata/conformance lacks", file, m[0])
				}
			}
		}
	}
}

// isRecorded tells whether an area of testdata/conformance has the case of that number.
func isRecorded(t *testing.T, cases map[string][]string, area, number string) bool {
	t.Helper()
	if cases[area] == nil {
		z, err := zip.OpenReader(filepath.Join("..", "..", "..", "testdata", "conformance", area+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			cases[area] = append(cases[area], f.Name)
		}
	}
	for _, name := range cases[area] {
		for element := range strings.SplitSeq(name, "/") {
			if strings.HasPrefix(element, number+"-") {
				return true
			}
		}
	}
	return false
}

// pages holds the anchors of the pages that were asked for, by path.
type pages map[string]map[string]bool

// has tells what is wrong with a citation, "" if the page exists and has the anchor.
func (p pages) has(page, anchor string) string {
	anchors, read := p[page]
	if !read {
		data, err := fs.ReadFile(os.DirFS(filepath.Join("..", "..", "..")), page)
		if err != nil {
			return "there is no such page"
		}
		anchors = map[string]bool{"": true}
		for _, m := range heading.FindAllStringSubmatch(string(data), -1) {
			anchors[anchorOf(m[1])] = true
		}
		p[page] = anchors
	}
	if !anchors[anchor] {
		return "the page has no such heading"
	}
	return ""
}

// anchorOf makes of a heading what GitHub makes of it: lower case, without punctuation, with
// hyphens for spaces.
func anchorOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}
