// Package kustomize runs the real kustomize binary, of the version that the
// project pins. Only tests use it, and it knows nothing of the engine.
package kustomize

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

var built = sync.OnceValues(func() (string, error) {
	made := checkout.Path("bin", "kustomize")
	if _, err := os.Stat(made); err == nil {
		return made, nil
	}
	dir, err := os.MkdirTemp("", "kustomize")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "kustomize")
	build := exec.Command("go", "build", "-C", checkout.Path("tools", "kustomize"), "-o", bin, "sigs.k8s.io/kustomize/kustomize/v5")
	build.Stderr = os.Stderr
	return bin, build.Run()
})

// Binary returns the path of kustomize: what `make` built or, where it was not run
// make, what it builds once for the test run.
func Binary(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatalf("building kustomize: %v", err)
	}
	return bin
}

// Run runs kustomize with args in dir. env is added to the environment.
func Run(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Binary(t), args...)
	var out, complaints bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaints
	cmd.Env = append(os.Environ(), env...)
	err = cmd.Run()
	return out.String(), complaints.String(), err
}
