package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSame writes a file, finds it the same, and removes it again.
func TestSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "expected.yaml")
	for _, text := range []string{"", "a: b\n", ""} {
		t.Setenv("UPDATE", "1")
		Same(t, path, text)
		t.Setenv("UPDATE", "")
		Same(t, path, text)
		if _, err := os.Stat(path); (err == nil) != (text != "") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
