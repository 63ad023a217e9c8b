// Package conformance reads the recorded behaviour of the real Kruise and
// compares ours with it. It is used by tests only. Each area has one test: those of what is rendered are here,
// those of lint, of conversion and of the model in the packages that implement them.
package conformance

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
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
// how many passed. run returns what differs; nil is a pass, unless it has failed
// the subtest itself. A panic is the failure of one case, not the end of all.
func Area(t *testing.T, area string, run func(*testing.T, Case) error) {
	t.Helper()
	cases := List(t, area)
	passed := 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := guarded(t, c, run); err != nil {
				t.Error(err)
			}
			if !t.Failed() {
				passed++
			}
		})
	}
	if testing.Verbose() {
		fmt.Printf("conformance %s: %d passed, %d failed\n", area, passed, len(cases)-passed)
	}
}

func guarded(t *testing.T, c Case, run func(*testing.T, Case) error) (err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run(t, c)
}

// Recorded reports whether the cases are those that came with the project, of
// which a test may know how many there are.
func Recorded() bool { return os.Getenv(Env) == "" }

// List returns the cases of an area, sorted by name. An area without any case
// fails the test: a harness that runs nothing proves nothing. Only an area that
// another folder of cases does not have at all is skipped, which -v shows.
func List(tb testing.TB, area string) []Case {
	tb.Helper()
	root, err := open(area)
	if elsewhere(err) {
		tb.Skipf("conformance: $%s has no area %s", Env, area)
	}
	if err != nil {
		tb.Fatal(err)
	}
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []Case
	for _, e := range entries {
		if info, err := fs.Stat(root, e.Name()); err != nil || !info.IsDir() {
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
	if beside, err := folder(checkout.Path("..", "shared", "conformance", area)); err == nil {
		return beside, nil
	}
	return zip.OpenReader(checkout.Path("testdata", "conformance", area+".zip"))
}

// elsewhere reports that another folder of cases is there, but not the area.
func elsewhere(err error) bool {
	if Recorded() || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	areas, err := os.ReadDir(os.Getenv(Env))
	return err == nil && len(areas) > 0
}

func folder(dir string) (fs.FS, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	return os.DirFS(dir), nil
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
