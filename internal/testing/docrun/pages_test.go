package docrun

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const top = "../../.."

// kinds are what stands behind fences: each page says of each block what it is.
var kinds = []string{string(Console), string(Script), "yaml", "json", "text", "go", "lua", "markdown"}

// command is how a line begins that a user would type.
var command = regexp.MustCompile(`^(\$ |kubectl |kubectl-kruise |kustomize |make |go |git |helm |flux |kpt |docker |cosign )`)

// TestPages: no block of commands slips through. Each is run, or its page says why not.
func TestPages(t *testing.T) {
	pages, err := Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	run, left := 0, 0
	for _, page := range pages {
		hidden(t, page)
		blocks, err := read(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		r, l := counted(blocks)
		if on := where(blocks); r > 0 && !slices.Contains([]string{Files, Kustomize, Krew}, on) && !strings.HasPrefix(on, Cluster) {
			t.Errorf("%s: %d blocks, and it does not say where they are run: %q", page, r, on)
		}
		run, left = run+r, left+l
	}
	t.Logf("%d pages, %d blocks of commands are run, %d are not", len(pages), run, left)
	if len(pages) < 40 || run < 100 || left > run/5 {
		t.Errorf("%d pages, %d blocks are run, %d are not", len(pages), run, left)
	}
}

// TestPages_NameWhatTheyBeginWith: a page whose blocks need files, or objects in a cluster, names the folder or the file in
// front of the first of them, so that a reader can run them, too.
func TestPages_NameWhatTheyBeginWith(t *testing.T) {
	pages, err := Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	need := 0
	for _, page := range pages {
		if !strings.HasPrefix(page, "docs/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		before, _, found := strings.Cut(string(text), "<!-- before:")
		if !found {
			continue
		}
		need++
		names := false
		for _, m := range begins.FindAllStringSubmatch(before, -1) {
			if _, err := os.Stat(filepath.Join(top, filepath.Dir(page), filepath.FromSlash(m[1]))); err == nil {
				names = true
			}
		}
		if !names {
			t.Errorf("%s: its blocks have a hidden beginning, and no link in front of the first leads to the examples or to test/docs/testdata", page)
		}
	}
	if need < 10 {
		t.Errorf("only %d pages were found", need)
	}
}

// begins is a link to files that a page begins with.
var begins = regexp.MustCompile(`\]\((\.\./(?:examples|test/docs/testdata)[\w./-]*)\)`)

// counted are the blocks of commands that are run, and those that are not.
func counted(blocks []Block) (run, left int) {
	for _, b := range blocks {
		switch {
		case b.Kind != Console && b.Kind != Script:
		case b.Left != "":
			left++
		default:
			run++
		}
	}
	return run, left
}

// hidden finds commands in blocks that no test would run.
func hidden(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	kind, within := "", false
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if fence, ok := strings.CutPrefix(line, "```"); ok {
			kind, within = fence, !within
			if within && !slices.Contains(kinds, kind) {
				t.Errorf("%s:%d: a block of the kind %q", page, i+1, kind)
			}
			continue
		}
		if within && kind != string(Script) && kind != string(Console) && command.MatchString(line) {
			t.Errorf("%s:%d: a command in a block of the kind %q: %s", page, i+1, kind, line)
		}
	}
}

// TestPages_HaveNamespacesOfTheirOwn: pages that share a cluster do not share a namespace.
func TestPages_HaveNamespacesOfTheirOwn(t *testing.T) {
	pages, err := RunOn(top, Cluster)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for page, namespace := range pages {
		if namespace == "" || seen[namespace] != "" {
			t.Errorf("%s and %s: namespace %q", page, seen[namespace], namespace)
		}
		seen[namespace] = page
	}
	if len(pages) == 0 {
		t.Error("no page is run on a cluster")
	}
}
