//go:build unix

package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestFile_SwappedForAPipe: a file that becomes a pipe between the look at it and its opening is refused, and not waited for.
func TestFile_SwappedForAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(name, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readSeen(name, seen, 9); err != nil || string(got) != "a" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := readSeen(name, seen, 9)
		read <- err
	}()
	select {
	case err := <-read:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Error("a pipe is waited for")
	}
}
