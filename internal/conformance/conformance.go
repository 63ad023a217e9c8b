// Package conformance reads the recorded behaviour of the real Kruise and
// compares ours with it. It is used by tests only; each area has one test, in
// the package that implements the area.
package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"testing"
)

// Env names the variable that points to another folder of cases.
const Env = "KRUISE_CONFORMANCE"

// Case is one recorded question with its answer.
type Case struct {
	// Area and Name are the folder names, such as injection and 055-hotupgrade.
	Area, Name string
	// Dir is the folder of the case.
	Dir string
}

// Root returns the folder of the cases: $KRUISE_CONFORMANCE, else
// ../shared/conformance beside the project, else the project's own copy.
func Root(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv(Env); dir != "" {
		return dir
	}
	top := projectRoot()
	for _, dir := range []string{filepath.Join(top, "..", "shared", "conformance"), filepath.Join(top, "testdata", "conformance")} {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	tb.Fatalf("no conformance cases: neither $%s nor testdata/conformance exists", Env)
	return ""
}

func projectRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Area runs every case of an area as a subtest of its own and, with -v, prints
// how many passed. run returns what differs; nil is a pass.
func Area(t *testing.T, area string, run func(Case) error) {
	t.Helper()
	cases := List(t, area)
	passed := 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := run(c); err != nil {
				t.Error(err)
				return
			}
			passed++
		})
	}
	if testing.Verbose() {
		fmt.Printf("conformance %s: %d passed, %d failed\n", area, passed, len(cases)-passed)
	}
}

// List returns the cases of an area, sorted by name. An area without any case
// fails the test: a harness that runs nothing proves nothing.
func List(tb testing.TB, area string) []Case {
	tb.Helper()
	dir := filepath.Join(Root(tb), area)
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var cases []Case
	for _, e := range entries {
		if e.IsDir() {
			cases = append(cases, Case{Area: area, Name: e.Name(), Dir: filepath.Join(dir, e.Name())})
		}
	}
	if len(cases) == 0 {
		tb.Fatalf("no cases in %s", dir)
	}
	sort.Slice(cases, func(i, j int) bool { return cases[i].Name < cases[j].Name })
	return cases
}

// Has reports whether the case has the file.
func (c Case) Has(file string) bool {
	_, err := os.Stat(filepath.Join(c.Dir, file))
	return err == nil
}

// Read returns the bytes of a file of the case.
func (c Case) Read(file string) ([]byte, error) { return os.ReadFile(filepath.Join(c.Dir, file)) }

// Glob returns the names of the case's files that match pattern, sorted.
func (c Case) Glob(pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(c.Dir, pattern))
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	sort.Strings(paths)
	return paths
}
