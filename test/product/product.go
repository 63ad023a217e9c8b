// Package product builds the binary that suites run against a control plane, by the
// pins of its own module.
package product

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// Binary returns the path of the binary: what package testrun has built or, where the
// suite runs without it, what it builds once in a process. One process at a time builds,
// because suites run side by side.
var Binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(testenv.Product); path != "" {
		_ = os.Getenv(testenv.ProductSum) // go test notes what was asked for
		return path, nil
	}
	top, err := checkout.Top()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(top, "out", "e2e")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // which releases it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kubectl-kruise")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/kubectl-kruise")
	cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0") // as it is released: an image may have no libraries
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, &said)
	}
	return path, nil
})
