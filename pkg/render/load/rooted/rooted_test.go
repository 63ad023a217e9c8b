//go:build unix

package rooted_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
)

// tree is a folder with a root in it, and files beside that.
func tree(t *testing.T) (top string) {
	t.Helper()
	top, err := os.MkdirTemp("", "") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	for name, text := range map[string]string{"in/a": "a", "in/d/b": "b", "in/d/e/c": "c", "out/secret": "secret", "inside-too/secret": "secret"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"file": "d/b", "up": "../in/a", "folder": "d", "d/back": "..", "long": filepath.Join(top, "in/d/b"), "chain": "file", "far": "folder/e/c",
		"out": "../out/secret", "out-folder": "../out", "out-long": filepath.Join(top, "out/secret"), "d/out": "../../out", "out-chain": "d/out/secret",
		"proc": "/proc/self/environ", "zero": "/dev/zero", "sibling": "../inside-too/secret", "loop": "loop", "gone": "nowhere", "top": "/",
	} {
		if err := os.Symlink(target, filepath.Join(top, "in", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(top, "in/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(top, "in/socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return top
}

func open(t *testing.T, dir string, limits rooted.Limits) *rooted.Root {
	t.Helper()
	r, err := rooted.Open(t.Context(), dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestReadFile(t *testing.T) {
	top := tree(t)
	r := open(t, filepath.Join(top, "in"), rooted.Limits{})
	for name, want := range map[string]any{
		"a": "a", "./d/../a": "a", "d/e/../b": "b", "file": "b", "folder/b": "b", "folder/e/c": "c", "d/back/a": "a", "folder/back/d/b": "b",
		"long": "b", "chain": "b", "far": "c", filepath.Join(top, "in/a"): "a", "d/e/../../a": "a", "folder/e/../b": "b",
		"../out/secret": rooted.ErrOutside, "../in/a": rooted.ErrOutside, "up": rooted.ErrOutside, "d/../../out/secret": rooted.ErrOutside,
		"out": rooted.ErrOutside, "out-folder/secret": rooted.ErrOutside, "out-long": rooted.ErrOutside, "d/out/secret": rooted.ErrOutside,
		"out-chain": rooted.ErrOutside, "folder/out/secret": rooted.ErrOutside, "proc": rooted.ErrOutside, "zero": rooted.ErrOutside,
		"sibling": rooted.ErrOutside, "top/etc/passwd": rooted.ErrOutside, "/etc/passwd": rooted.ErrOutside, "/proc/self/environ": rooted.ErrOutside,
		filepath.Join(top, "out/secret"): rooted.ErrOutside, filepath.Join(top, "inside-too/secret"): rooted.ErrOutside, "folder/../../out/secret": rooted.ErrOutside,
		"pipe": rooted.ErrIrregular, "socket": rooted.ErrIrregular, "d": rooted.ErrFolder, "folder": rooted.ErrFolder, ".": rooted.ErrFolder,
		"gone": os.ErrNotExist, "missing": os.ErrNotExist, "a/b": nil, "loop": nil, "a\x00b": nil, "": rooted.ErrFolder,
	} {
		got, err := r.ReadFile(name)
		reason, _ := want.(error)
		switch text, fine := want.(string); {
		case fine && (err != nil || string(got) != text):
			t.Errorf("%q: got %q, %v, want %q", name, got, err, text)
		case !fine && (err == nil || reason != nil && !errors.Is(err, reason)):
			t.Errorf("%q: got %q, %v, want %v", name, got, err, want)
		}
	}
	if !errors.Is(r.Refused(), rooted.ErrOutside) && !errors.Is(r.Refused(), rooted.ErrIrregular) {
		t.Errorf("the refusal is forgotten: %v", r.Refused())
	}
}

// TestReadFile_RefusesFilesOfTheKernel: files that the kernel generates are refused, even below
// the root.
func TestReadFile_RefusesFilesOfTheKernel(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc")
	}
	for root, name := range map[string]string{"/": "proc/self/environ", "/proc/self": "environ", "/dev": "zero"} {
		if got, err := open(t, root, rooted.Limits{}).ReadFile(name); !errors.Is(err, rooted.ErrIrregular) {
			t.Errorf("%s in %s: %d bytes, %v", name, root, len(got), err)
		}
	}
}

// TestReadFile_ChangingLinkStaysInTheRoot: a name that changes what it leads to while it is read never
// leads out.
func TestReadFile_ChangingLinkStaysInTheRoot(t *testing.T) {
	top := tree(t)
	r := open(t, filepath.Join(top, "in"), rooted.Limits{})
	link, other := filepath.Join(top, "in/moving"), filepath.Join(top, "in/other")
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			_ = os.Remove(other)
			_ = os.Symlink([]string{"d", "../out", "d/e", filepath.Join(top, "inside-too")}[i%4], other)
			_ = os.Rename(other, link)
		}
	}()
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		for _, name := range []string{"moving/secret", "moving/b", "moving/../secret"} {
			if text, err := r.ReadFile(name); err == nil && strings.Contains(string(text), "secret") {
				t.Fatalf("%s led out", name)
			}
		}
		if list, err := r.ReadDir("moving"); err == nil {
			for _, e := range list {
				if e.Name() == "secret" {
					t.Fatal("a folder outside was listed")
				}
			}
		}
	}
	stop.Store(true)
	<-done
}

// TestReplace_ChangingLinkStaysInTheRoot: the same for what is written.
func TestReplace_ChangingLinkStaysInTheRoot(t *testing.T) {
	top := tree(t)
	r := open(t, filepath.Join(top, "in"), rooted.Limits{})
	moving, other, folder := filepath.Join(top, "in/moving"), filepath.Join(top, "in/other"), filepath.Join(top, "in/folder-of-its-own")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			// A real folder in one moment, a link that leads out in the next.
			_ = os.Rename(folder, moving)
			_ = os.Rename(moving, folder)
			_ = os.Symlink("../out", other)
			_ = os.Rename(other, moving)
			_ = os.Remove(moving)
		}
	}()
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		_ = r.Replace("moving/secret", []byte("written"))
	}
	stop.Store(true)
	<-done
	if text, err := os.ReadFile(filepath.Join(top, "out/secret")); err != nil || string(text) != "secret" {
		t.Errorf("written outside: %q %v", text, err)
	}
	if list, err := os.ReadDir(filepath.Join(top, "out")); err != nil || len(list) != 1 {
		t.Errorf("left outside: %v %v", list, err)
	}
	if err := r.Replace("a", []byte("new")); err != nil {
		t.Error(err)
	}
	if text, err := r.ReadFile("a"); err != nil || string(text) != "new" {
		t.Errorf("%q %v", text, err)
	}
}

func TestLimits(t *testing.T) {
	top := tree(t)
	for name, c := range map[string]struct {
		limits rooted.Limits
		files  []string
		want   error
	}{
		"a large file":      {rooted.Limits{FileBytes: 1}, []string{"a", "d/b"}, nil},
		"too large":         {rooted.Limits{FileBytes: 1}, []string{"large"}, rooted.ErrTooLarge},
		"many files":        {rooted.Limits{Files: 2}, []string{"a", "d/b", "d/e/c"}, rooted.ErrTooOften},
		"one file often":    {rooted.Limits{Again: 2}, []string{"d/b", "file", "folder/b"}, rooted.ErrTooOften},
		"many bytes":        {rooted.Limits{AllBytes: 2}, []string{"a", "d/b", "a"}, rooted.ErrTooOften},
		"as much as may be": {rooted.Limits{Files: 3, Again: 2, AllBytes: 3}, []string{"a", "d/b", "a"}, nil},
	} {
		if err := os.WriteFile(filepath.Join(top, "in/large"), []byte("xx"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, filepath.Join(top, "in"), c.limits)
		var err error
		for _, file := range c.files {
			if _, err = r.ReadFile(file); err != nil {
				break
			}
		}
		if !errors.Is(err, c.want) || err != nil && !errors.Is(r.Refused(), c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestReadFile_EndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, err := rooted.Open(ctx, filepath.Join(tree(t), "in"), rooted.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := r.ReadFile("a"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWorkTree(t *testing.T) {
	top := tree(t)
	in := filepath.Join(top, "in")
	if got, err := rooted.WorkTree(filepath.Join(in, "folder/e")); err != nil || got != filepath.Join(in, "d/e") {
		t.Errorf("%s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(in, ".git"), []byte("gitdir: elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := rooted.WorkTree(filepath.Join(in, "folder/e")); err != nil || got != in {
		t.Errorf("%s, %v", got, err)
	}
}
