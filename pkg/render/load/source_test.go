//go:build unix

package load

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBelow_ReadsNothingOutside(t *testing.T) {
	top := Files(t, map[string]string{"in/a.yaml": "a", "in/d/b.yaml": "b", "out.yaml": "secret"})
	dir := filepath.Join(top, "in")
	for link, target := range map[string]string{"good": "d/b.yaml", "bad": "../out.yaml", "badder": filepath.Join(top, "out.yaml")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ text, fault string }{
		"a.yaml":                       {"a", ""},
		"./d/../d/b.yaml":              {"b", ""},
		"good":                         {"b", ""},
		"bad":                          {"", "leads out"},
		"badder":                       {"", "leads out"},
		"../out.yaml":                  {"", "leads out"},
		filepath.Join(top, "out.yaml"): {"", "leads out"},
		"missing":                      {"", "no such file"},
		"d":                            {"", "no regular file"},
		"pipe":                         {"", "no regular file"},
	}
	for path, tc := range tests {
		t.Run(path, func(t *testing.T) {
			got, err := Below(dir)(path)
			switch {
			case tc.fault == "" && (err != nil || string(got) != tc.text):
				t.Errorf("got %q, %v", got, err)
			case tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)):
				t.Errorf("got %v, want %q", err, tc.fault)
			}
		})
	}
}
