package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

func TestFill_WritesSecondsIntoRows(t *testing.T) {
	const page = "# Tests\n\n| package | processor | wall | proves |\n|---|--:|--:|---|\n| `pkg/a` | 9 | 8 | a `thing` \\| another |\n| `pkg/b` |  | 7 | b |\n| `test/c` | 30 | 40 | c |\n| `test/d` | 3 | 4 | d |\n| `test/e` |  | 4 | e |\n\nText.\n"
	got, missing := fill(page, []took{
		{module + "pkg/a", 1.4, 2.6, "pass"},
		{module + "pkg/b", 20.5, 10, "pass"},
		{module + "test/c", 99, 0, "pass, cached"},
		{module + "test/d", 99, 1, "fail"},
		{module + "test/e", 0, 5.2, "pass"},
		{module + "test/new", 10, 1, "pass"},
		{module + "pkg/small", 9.9, 1, "pass"},
	})
	const want = "# Tests\n\n| package | processor | wall | proves |\n|---|--:|--:|---|\n| `test/c` | 30 | 40 | c |\n| `pkg/b` | 21 | 10 | b |\n| `test/d` | 3 | 4 | d |\n| `pkg/a` | 1 | 3 | a `thing` \\| another |\n| `test/e` |  | 5 | e |\n\nText.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !slices.Equal(missing, []string{"test/new"}) {
		t.Errorf("without a row: %q", missing)
	}
	if got, _ := fill("# Tests\n", nil); got != "" {
		t.Errorf("a page without a table becomes %q", got)
	}
}

// TestTable_NamesPackagesThatExist: the row of a package that was moved would keep its
// seconds for good.
func TestTable_NamesPackagesThatExist(t *testing.T) {
	text, err := os.ReadFile(checkout.Path("CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for l := range strings.SplitSeq(string(text), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		rows++
		if files, _ := filepath.Glob(filepath.Join(checkout.Path(filepath.FromSlash(m[1])), "*_test.go")); len(files) == 0 {
			t.Errorf("%s has no tests", m[1])
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}
