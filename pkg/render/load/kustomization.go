package load

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// IsKustomization reports whether a directory holds a kustomization.
func IsKustomization(dir string) bool {
	return slices.ContainsFunc(kustomizationFiles, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && !info.IsDir()
	})
}

func kustomization(ctx context.Context, k Kustomization) source {
	name := k.Dir + " (kustomization)"
	return source{name: name, read: func(limit int64) ([]byte, error) {
		b, err := k.Build(ctx)
		if err != nil {
			return nil, placed(name, err)
		}
		if int64(len(b)) > limit {
			return nil, tooLarge(name, limit)
		}
		return b, nil
	}}
}

// placed gives err the file name unless it has a place already.
func placed(name string, err error) error {
	if _, ok := errors.AsType[*resource.Error](err); ok {
		return err
	}
	return &resource.Error{File: name, Err: err}
}
