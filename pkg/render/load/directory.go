package load

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kustomizationFiles are the names that kustomize gives a meaning to.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// root adds the manifests of a directory that the user named, in the order of
// their names.
func (c *collector) root(dir string) {
	inside, err := filepath.EvalSymlinks(dir)
	if err == nil {
		inside, err = filepath.Abs(inside)
	}
	if err != nil {
		c.errs.Add(unreadable(dir, err))
		return
	}
	sources, faults := len(c.sources), len(c.errs)
	w := &walk{collector: c, inside: inside}
	w.dir(dir)
	if len(c.sources) == sources && len(c.errs) == faults && !w.left {
		hint := ""
		if w.folders && !c.opt.Recursive {
			hint = "add -R to look into its folders"
		}
		c.fail(dir, hint, "holds no .yaml, .yml or .json file")
	}
}

// walk visits one directory tree; inside is its real path, which no symlink
// may lead out of.
type walk struct {
	*collector
	inside  string
	folders bool
	// left is set where a file was left to another reader.
	left bool
}

func (w *walk) dir(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.errs.Add(unreadable(dir, err))
		return
	}
	for _, e := range entries {
		if slices.Contains(kustomizationFiles, e.Name()) {
			w.fail(filepath.Join(dir, e.Name()), "use -k "+dir, "a kustomization is built, not read")
			return
		}
	}
	for _, e := range entries {
		w.entry(filepath.Join(dir, e.Name()), e.Type())
	}
}

func (w *walk) entry(path string, mode fs.FileMode) {
	link := mode&fs.ModeSymlink != 0
	if link {
		info, err := os.Stat(path)
		if err != nil {
			if manifest(path) {
				w.errs.Add(unreadable(path, err))
			}
			return
		}
		mode = info.Mode()
	}
	switch {
	case mode.IsDir():
		w.folders = true
		if w.opt.Recursive {
			w.folder(path, link)
		}
	case !manifest(path):
	case w.excepted(path):
		w.left = true
	case link && !w.stays(path):
	case !mode.IsRegular():
		w.errs.Add(irregular(path))
	default:
		w.sources = append(w.sources, file(path))
	}
}

func (w *walk) excepted(path string) bool {
	return slices.ContainsFunc(w.opt.Except, func(other string) bool { return absolute(other) == absolute(path) })
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// folder visits a folder; what a link inside the root names is visited under
// its own name.
func (w *walk) folder(path string, link bool) {
	if link {
		w.stays(path)
		return
	}
	w.dir(path)
}

// stays reports whether the symlink path ends inside the root, and the fault
// when it does not.
func (w *walk) stays(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		w.errs.Add(unreadable(path, err))
		return false
	}
	if target == w.inside || strings.HasPrefix(target, w.inside+string(filepath.Separator)) || w.inside == string(filepath.Separator) {
		return true
	}
	w.fail(path, "name the file itself with -f if it belongs to the input", "is a symlink that leaves the directory")
	return false
}

func manifest(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
