package load

import (
	"errors"
	"os"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Below returns a reader of files in and below dir, for what a function config
// names: absolute paths, paths with .. that leave dir, and symlinks that do are
// refused, and so is a file beyond DefaultMaxFileBytes.
func Below(dir string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, unreadable(dir, err)
		}
		defer root.Close() //nolint:errcheck // it was only read
		return readBelow(root, path)
	}
}

// readBelow looks before it opens: opening a pipe would wait for a writer.
func readBelow(root *os.Root, path string) ([]byte, error) {
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return nil, outside(path, err)
	case !info.Mode().IsRegular():
		return nil, irregular(path)
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, outside(path, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return readAll(path, f, info.Size(), DefaultMaxFileBytes)
}

// outside adds a hint where the file lies elsewhere.
func outside(path string, err error) error {
	var bad *resource.Error
	if e := unreadable(path, err); errors.As(e, &bad) && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		bad.Hint = "name a file in or below the working directory, by a relative path"
		return bad
	}
	return unreadable(path, err)
}
