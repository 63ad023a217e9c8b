package rooted

import (
	"os"
	"path/filepath"
)

// WorkTree returns the top of the Git work tree that holds a folder, by the nearest
// folder above it, or itself, that holds .git; without one, the folder. Both are without
// links.
func WorkTree(dir string) (string, error) {
	physical, err := filepath.EvalSymlinks(dir)
	if err == nil {
		physical, err = filepath.Abs(physical)
	}
	if err != nil {
		return "", err
	}
	for at := physical; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return physical, nil
		}
	}
}
