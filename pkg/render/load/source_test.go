//go:build unix

package load

import (
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
	dir := t.TempDir()
	name, file, pipe := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	over, swapped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
			}
			next := name + ".next"
			_ = os.Symlink([]string{file, pipe}[i%2], next)
			_ = os.Rename(next, name)
		}
	}()
	read := make(chan int)
	go func() {
		refused := 0
		for range 5000 {
			if _, err := File(name, nil, 0); err != nil {
				refused++
			}
		}
		read <- refused
	}()
	select {
	case n := <-read:
		if n == 0 || n == 5000 {
			t.Errorf("%d of 5000 were refused: nothing was swapped", n)
		}
	case <-time.After(20 * time.Second):
		t.Error("a pipe is waited for")
	}
	close(over)
	<-swapped
}
