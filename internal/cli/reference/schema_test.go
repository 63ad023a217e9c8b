package reference

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFiles_NoLinkLeadsElsewhere: a link in the directory takes nothing to a file outside of it; the other files are
// written.
func TestWriteFiles_NoLinkLeadsElsewhere(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "group"} {
		if err := os.Symlink(map[string]string{"a.json": outside, "group": filepath.Dir(outside)}[name], filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	err := writeFiles(dir, map[string][]byte{"a.json": []byte("{}"), "group/profile": []byte("{}"), "other/b.json": []byte("{}")})
	if err == nil {
		t.Error("that it was refused is not reported")
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "other", "b.json")); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}
