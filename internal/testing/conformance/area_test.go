package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuarded: a case that panics fails alone.
func TestGuarded(t *testing.T) {
	err := guarded(t, Case{}, func(*testing.T, Case) error {
		panic("on purpose")
	})
	if err == nil || !strings.Contains(err.Error(), "on purpose") {
		t.Errorf("%v, want the panic", err)
	}
}

// TestElsewhere: only a folder of cases that has other areas may lack one.
func TestElsewhere(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name, env string
		areas     []string
		err       error
		skipped   bool
	}{
		{"the project's own", "", nil, fs.ErrNotExist, false},
		{"no such folder", filepath.Join(dir, "none"), nil, fs.ErrNotExist, false},
		{"an empty folder", dir, nil, fs.ErrNotExist, false},
		{"a folder with another area", dir, []string{"lint"}, fs.ErrNotExist, true},
		{"a folder that cannot be read", dir, []string{"lint"}, fs.ErrPermission, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(Env, tc.env)
			for _, area := range tc.areas {
				if err := os.MkdirAll(filepath.Join(dir, area), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if got := elsewhere(tc.err); got != tc.skipped {
				t.Errorf("skipped: %v, want %v", got, tc.skipped)
			}
		})
	}
}
