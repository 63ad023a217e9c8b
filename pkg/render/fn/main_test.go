package fn

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// asFunction makes the test binary behave like kubectl-kruise without
// arguments or with fn, so that kustomize can run it.
const asFunction = "KRUISE_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(asFunction) == "" {
		hermetic.Main(m)
	}
	os.Exit(function())
}

func function() int {
	err := Run(context.Background(), os.Stdin, os.Stdout, os.Stderr, load.Below("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// installed returns an environment whose PATH begins with a directory that
// holds a program kubectl-kruise (this test binary) and kustomize.
func installed(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" + asFunction + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl-kruise"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs(kustomize.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(dir, "kustomize")); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
}

// build runs kustomize with functions enabled and returns what it prints; env
// is from installed.
func build(t *testing.T, dir string, env []string) (stdout, stderr string, err error) {
	t.Helper()
	return kustomize.Run(t, dir, env, "build", "--enable-alpha-plugins", "--enable-exec", ".")
}

// unpack writes files from a text in which each begins with a line
// `-- name --`.
func unpack(t *testing.T, dir, archive string) {
	t.Helper()
	if err := txtar.Write(txtar.Parse([]byte(archive)), dir); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestInstalled_NeedsNoArguments(t *testing.T) {
	env := installed(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "kubectl-kruise")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n")
	out, err := cmd.Output()
	if err != nil || string(out) != "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
