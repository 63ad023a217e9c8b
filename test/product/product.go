// Package product builds the binary that suites run against a control plane, by the
// pins of its own module.
package product

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/internal/checkout"
)

// Binary builds the binary, once in a process, and returns its path.
var Binary = sync.OnceValues(func() (string, error) {
	top, err := checkout.Top()
	if err != nil {
		return "", err
	}
	path := filepath.Join(top, "out", "e2e", "kubectl-kruise")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/kubectl-kruise")
	cmd.Dir = top
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, &said)
	}
	return path, nil
})
