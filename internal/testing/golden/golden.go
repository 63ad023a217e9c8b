// Package golden holds what tests with folders of fixtures share: finding the
// cases, reading their inputs, comparing what came out. Only tests use it, and
// it knows no stage. UPDATE=1 in the environment writes the expected files
// again.
package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Cases returns the folder of every file that glob matches, such as
// testdata/*/input.yaml.
func Cases(t *testing.T, glob string) []string {
	t.Helper()
	dirs, err := filepath.Glob(glob)
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i, path := range dirs {
		dirs[i] = filepath.Dir(path)
	}
	return dirs
}

// Same compares got with the file at path. No file is an empty one: what is
// empty is not written.
func Same(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func write(t *testing.T, path, got string) {
	t.Helper()
	var err error
	if got == "" {
		if err = os.Remove(path); os.IsNotExist(err) {
			err = nil
		}
	} else {
		err = os.WriteFile(path, []byte(got), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
