package load

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// regular reports whether path is a file that can be read to its end. Kustomize would
// read a device or a pipe for ever, and a file of any size; what is there and is no such
// file is a fault. What is not there is kustomize's to complain about.
func (s *survey) regular(path string) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.IsDir():
		return false
	case !info.Mode().IsRegular():
		s.errs.Add(irregular(path))
		return false
	case info.Size() > DefaultMaxFileBytes:
		s.errs.Add(tooLarge(path, DefaultMaxFileBytes))
		return false
	}
	return true
}

func (s *survey) read(path string) ([]byte, bool) {
	if !s.regular(path) {
		return nil, false
	}
	b, err := os.ReadFile(path)
	return b, err == nil
}

// named looks at a file that a field names, [KEY=]PATH, from the folder of the file that
// the field stands in.
func (s *survey) named(file string, entry *tree.Node) {
	name := tree.Str(entry)
	if _, path, ok := strings.Cut(name, "="); ok {
		name = path
	}
	if name != "" && !strings.Contains(name, "\n") {
		s.regular(filepath.Join(filepath.Dir(file), name))
	}
}
