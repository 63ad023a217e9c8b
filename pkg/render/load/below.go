package load

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Below returns a reader of files in and below dir, for what a function config
// names: absolute paths, paths with .. that leave dir, and symlinks that do are
// refused, and so is a file beyond DefaultMaxFileBytes.
func Below(dir string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		root, err := rooted.Open(context.Background(), dir, rooted.Limits{FileBytes: DefaultMaxFileBytes})
		if err != nil {
			return nil, unreadable(dir, err)
		}
		defer root.Close() //nolint:errcheck // it was only read
		if filepath.IsAbs(path) {
			return nil, denied(path, rooted.ErrOutside)
		}
		b, err := root.ReadFile(path)
		if err != nil {
			return nil, denied(path, err)
		}
		return b, nil
	}
}

// denied puts a refusal into words for a file that the content of another one names.
func denied(path string, err error) error {
	e := &resource.Error{File: path, Err: errors.Unwrap(err)}
	switch {
	case errors.Is(err, rooted.ErrOutside):
		e.Err, e.Hint = rooted.ErrOutside, "name a file in or below the working directory, by a relative path"
	case errors.Is(err, rooted.ErrIrregular), errors.Is(err, rooted.ErrFolder):
		e.Hint = "pipe the manifests in and name them as -f -"
	case errors.Is(err, rooted.ErrTooLarge):
		return tooLarge(path, DefaultMaxFileBytes)
	default:
		return unreadable(path, err)
	}
	return e
}
