package gitops

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// files opens what is read and written. A file that a person typed is opened as typed. What
// a folder or a kustomization holds and names stays inside the Git work tree around it, or
// inside the folder: others may have written that, and it is written to with the rights of
// the person.
type files struct {
	// root is nil for a file that was typed.
	root *rooted.Root
	// typed is the folder as it was typed, base the same one without links.
	typed, base string
	// sums are those of the files as they were first read.
	sums map[string][sha256.Size]byte
}

// limits bound what a folder makes this program read.
var limits = rooted.Limits{FileBytes: 256 << 20, AllBytes: 1 << 30, Files: 100_000, Again: 300}

// openFiles is for a path that a person typed.
func openFiles(path string) (*files, error) {
	dir, file := path, kustomizationAt(&files{}, path)
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case file == "" && !info.IsDir():
		return &files{sums: map[string][sha256.Size]byte{}}, nil
	case !info.IsDir():
		dir = filepath.Dir(path)
	}
	base, err := filepath.EvalSymlinks(dir)
	if err == nil {
		base, err = filepath.Abs(base)
	}
	if err != nil {
		return nil, err
	}
	top, err := rooted.WorkTree(base)
	if err != nil {
		return nil, err
	}
	root, err := rooted.Open(context.Background(), top, limits)
	if err != nil {
		return nil, err
	}
	return &files{root: root, typed: dir, base: base, sums: map[string][sha256.Size]byte{}}, nil
}

// relativePath is a path as the root knows it.
func (f *files) relativePath(path string) string {
	rel, err := filepath.Rel(f.typed, path)
	if err != nil {
		return path // an absolute one
	}
	return filepath.Join(f.base, rel)
}

func (f *files) read(path string) (text []byte, err error) {
	if f.root == nil {
		text, err = load.File(path, nil, 0)
	} else {
		text, err = f.root.ReadFile(f.relativePath(path))
	}
	if err != nil {
		return nil, err
	}
	if _, known := f.sums[path]; !known {
		f.sums[path] = sha256.Sum256(text)
	}
	return text, nil
}

// unchanged reports, as an error, that a file is not as it was when it was first read.
func (f *files) unchanged(path string) error {
	text, err := f.read(path)
	if err == nil && sha256.Sum256(text) != f.sums[path] {
		err = &resource.Error{File: path, Err: errors.New("has changed while it was read: nothing is written"), Hint: "commit the new state of the object by hand"}
	}
	return err
}

func (f *files) regular(path string) bool {
	stat := os.Stat
	if f.root != nil {
		stat, path = f.root.Stat, f.relativePath(path)
	}
	info, err := stat(path)
	return err == nil && info.Mode().IsRegular()
}

// refusalOf is why something that a file names was not opened; nil where it was not refused.
func (f *files) refusalOf(file string) error {
	if f.root == nil || f.root.Refused() == nil {
		return nil
	}
	return &resource.Error{File: file, Err: f.root.Refused(), Hint: fmt.Sprintf("what is written to is inside %s: the Git work tree of what --write-back names, or else its folder", f.root.Dir())}
}

// list are the YAML files below a folder; links are none.
func (f *files) list(path string) ([]string, error) {
	if f.root == nil {
		return []string{path}, nil
	}
	var out []string
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := f.root.ReadDir(f.relativePath(dir))
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			switch ext := filepath.Ext(file); {
			case e.IsDir():
				err = walk(file)
			case e.Type()&fs.ModeType == 0 && (ext == ".yaml" || ext == ".yml"):
				out = append(out, file)
			}
			if err != nil {
				return err
			}
		}
		return err
	}
	return out, walk(path)
}

// replace writes a file at once, with the mode that it had.
func (f *files) replace(path string, body []byte) error {
	if f.root != nil {
		return f.root.Replace(strings.TrimSuffix(f.relativePath(path), string(filepath.Separator)), body)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	return emit.File(path, body)
}
