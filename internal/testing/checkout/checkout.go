// Package checkout tells tests and tools where the project's files are. It
// looks from the folder that the process starts in, not from the paths that the
// compiler knew: so that checkouts can share what -trimpath builds.
package checkout

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// module is the line of the product's go.mod that no other one has.
const module = "module github.com/kubectl-kruise/kubectl-kruise\n"

// start is the folder at the start: tests go to others.
var start, startErr = os.Getwd()

// Top returns the absolute path of the checkout that the process was started
// in, or an error outside of any.
var Top = sync.OnceValues(func() (string, error) { return top(start, startErr) })

func top(dir string, err error) (string, error) {
	for err == nil {
		text, readErr := os.ReadFile(filepath.Join(dir, "go.mod"))
		if readErr == nil && bytes.HasPrefix(text, []byte(module)) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no checkout of kubectl-kruise holds the folder " + start + ": start tests and tools inside one")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Path is a path of the checkout, by its parts under the top. It panics outside
// of any checkout: for tests.
func Path(parts ...string) string {
	dir, err := Top()
	if err != nil {
		panic(err)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}
