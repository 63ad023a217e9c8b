//go:build unix

package load

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// naming are kustomizations that name a file, by where they name it.
var naming = map[string]string{
	"kustomization.yaml": "",
	"resource":           "resources: [it]\n",
	"generator file":     "configMapGenerator:\n- {name: a, files: [it]}\n",
	"key and file":       "secretGenerator:\n- {name: a, files: [key=it]}\n",
	"variables":          "configMapGenerator:\n- {name: a, envs: [it]}\n",
	"patch":              "patches:\n- {path: it}\n",
	"transformer":        "transformers: [it]\n",
	"schema":             "openapi: {path: it}\n",
	"definitions":        "crds: [it]\n",
	"configuration":      "configurations: [it]\n",
	"replacement":        "replacements: [{path: it}]\n",
}

// TestKustomize_ReadsRegularFilesOnly: a repository can hold links out of it, and an unpacked one
// can have pipes and sockets in it; none is read, wherever kustomize would, and nothing waits for
// the other end of a pipe.
func TestKustomize_ReadsRegularFilesOnly(t *testing.T) {
	for kind, c := range map[string]struct {
		at   func(path string) error
		want string
	}{
		"device":     {func(path string) error { return os.Symlink("/dev/zero", path) }, "leads out of"},
		"descriptor": {func(path string) error { return os.Symlink("/proc/self/environ", path) }, "leads out of"},
		"pipe":       {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is no regular file"},
		"socket": {func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}, "is no regular file"},
	} {
		for name, text := range naming {
			t.Run(kind+" as "+name, func(t *testing.T) {
				dir, err := os.MkdirTemp("", "") // the path of a socket must be short
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(dir) })
				file := "it"
				if text == "" {
					file = "kustomization.yaml"
				} else if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := c.at(filepath.Join(dir, file)); err != nil {
					t.Skip(err)
				}
				begin := time.Now()
				_, err = Kustomize(dir)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
					t.Errorf("%v, want %q of %s", err, c.want, file)
				}
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		}
	}
}

func TestKustomize_ReadsNoHugeFile(t *testing.T) {
	dir := Files(t, map[string]string{"kustomization.yaml": "configMapGenerator:\n- {name: a, files: [big]}\n", "big": ""})
	if err := os.Truncate(filepath.Join(dir, "big"), DefaultMaxFileBytes+1); err != nil {
		t.Skip(err)
	}
	if _, err := Kustomize(dir); err == nil || !strings.Contains(err.Error(), "big: is larger than 256 MiB") {
		t.Errorf("%v, want a fault of its size", err)
	}
}
