package emit

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteIrregular_LeavesFilesAlone: a link that led to a pipe when it was looked at, and leads to a file now, takes
// nothing to that file.
func TestWriteIrregular_LeavesFilesAlone(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	err := writeIrregular(link, []byte("x"))
	if text, rerr := os.ReadFile(mine); err == nil || rerr != nil || string(text) != "mine" {
		t.Errorf("%v: %q, %v", err, text, rerr)
	}
	if err := writeIrregular(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
}
