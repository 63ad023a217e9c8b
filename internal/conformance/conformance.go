// Package conformance reads the recorded behaviour of the real Kruise and
// compares ours with it. It is used by tests only; each area has one test, in
// the package that implements the area.
package conformance

import (
	"archive/zip"
	"fmt"
	"io/fs"
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
	files      fs.FS
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
	root, err := open(area)
	if err != nil {
		tb.Fatal(err)
	}
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := fs.Sub(root, e.Name())
		if err != nil {
			tb.Fatal(err)
		}
		cases = append(cases, Case{Area: area, Name: e.Name(), files: files})
	}
	if len(cases) == 0 {
		tb.Fatalf("conformance: area %s holds no case", area)
	}
	sort.Slice(cases, func(i, j int) bool { return cases[i].Name < cases[j].Name })
	return cases
}

// open returns the folder of an area: in $KRUISE_CONFORMANCE, else in
// ../shared/conformance beside the project, else in the project's own copy,
// which is one archive per area.
func open(area string) (fs.FS, error) {
	if dir := os.Getenv(Env); dir != "" {
		return folder(filepath.Join(dir, area))
	}
	if beside, err := folder(filepath.Join(project(), "..", "shared", "conformance", area)); err == nil {
		return beside, nil
	}
	return zip.OpenReader(filepath.Join(project(), "testdata", "conformance", area+".zip"))
}

func folder(dir string) (fs.FS, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	return os.DirFS(dir), nil
}

// project returns the top of the work tree.
func project() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Has reports whether the case has the file.
func (c Case) Has(file string) bool {
	_, err := fs.Stat(c.files, file)
	return err == nil
}

// Read returns the bytes of a file of the case.
func (c Case) Read(file string) ([]byte, error) { return fs.ReadFile(c.files, file) }

// Glob returns the names of the case's files that match pattern, sorted.
func (c Case) Glob(pattern string) []string {
	names, _ := fs.Glob(c.files, pattern)
	sort.Strings(names)
	return names
}
