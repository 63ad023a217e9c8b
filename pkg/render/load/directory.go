package load

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// kustomizationFiles are the names that kustomize gives a meaning to.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// root adds the manifests of a directory that the user named, in the order of
// their names.
func (c *collector) root(dir string) {
	inside, err := realPath(dir)
	if err != nil {
		c.errs.Add(unreadable(dir, err))
		return
	}
	top := inside
	if c.opt.Root != "" {
		if top, err = realPath(c.opt.Root); err != nil {
			c.errs.Add(unreadable(c.opt.Root, err))
			return
		}
	}
	root, err := rooted.Open(c.ctx, top, rooted.Limits{})
	if err != nil {
		c.errs.Add(unreadable(dir, err))
		return
	}
	c.roots = append(c.roots, root)
	from, err := root.Locate(inside)
	if err != nil {
		c.fail(dir, "", "does not lie in "+c.opt.Root)
		return
	}
	sources, faults := len(c.sources), len(c.errs)
	w := &walk{collector: c, root: root, name: dir, inside: inside, from: from, seen: map[string]bool{}}
	w.dir(dir)
	w.reportKustomizations(len(c.sources) > sources)
	if len(c.sources) == sources && len(c.errs) == faults && !w.left {
		hint := ""
		if w.folders && !c.opt.Recursive {
			hint = "add -R to look into its folders"
		}
		c.fail(dir, hint, "holds no .yaml, .yml or .json file")
	}
}

// walk visits one directory tree. Everything in it is opened below its root.
type walk struct {
	*collector
	root *rooted.Root
	// name is the directory as the user named it, inside its real path, and from that
	// rootedFile the root.
	name, inside, from string
	folders            bool
	// left is set where a file was left to another reader.
	left bool
	// kustomizations are the files of those that were met, whose folders are not read.
	kustomizations []string
	// seen are the folders that links led to.
	seen map[string]bool
}

// reportKustomizations reports the folders that were not read, once for all of them. It is another
// error where nothing else was found: then the user meant to build one.
func (w *walk) reportKustomizations(others bool) {
	if len(w.kustomizations) == 0 {
		return
	}
	met := make(resource.KustomizationsError, len(w.kustomizations))
	for i, file := range w.kustomizations {
		met[i] = filepath.Dir(file)
	}
	err := error(met)
	if !others {
		err = errors.New(met.Error())
	}
	w.errs.Add(&resource.Error{File: w.kustomizations[0], Err: err, Hint: "use -k " + met[0]})
}

// real is what the root knows a path of the tree by.
func (w *walk) real(path string) string {
	rel, err := filepath.Rel(w.name, path)
	if err != nil {
		return path
	}
	return filepath.Join(w.inside, rel)
}

func (w *walk) dir(dir string) {
	entries, err := w.root.ReadDir(w.real(dir))
	if err != nil {
		w.errs.Add(unreadable(dir, err))
		return
	}
	for _, e := range entries {
		if slices.Contains(kustomizationFiles, e.Name()) {
			w.kustomizations = append(w.kustomizations, filepath.Join(dir, e.Name()))
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
		info, err := w.root.Stat(w.real(path))
		switch outside := errors.Is(err, rooted.ErrOutside); {
		case outside && (manifest(path) || w.opt.Recursive && leadsToFolder(w.real(path))):
			w.errs.Add(leavesRoot(path))
			return
		case err != nil && !outside && manifest(path):
			w.errs.Add(unreadable(path, err))
			return
		case err != nil:
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
	case slices.ContainsFunc(w.opt.Except, func(other string) bool { return absolute(other) == absolute(path) }):
		w.left = true
	case !mode.IsRegular():
		w.errs.Add(irregularFileError(path))
	default:
		w.sources = append(w.sources, rootedFile(w.root, path, w.real(path)))
	}
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// folder visits a folder; what a link inside the directory names is visited under
// its own name, and what several links name is visited once.
func (w *walk) folder(path string, link bool) {
	if link {
		at, err := w.root.Locate(w.real(path))
		if err != nil || w.seen[at] || at == w.from || w.from == "." || strings.HasPrefix(at, w.from+string(filepath.Separator)) || strings.HasPrefix(w.from, at+string(filepath.Separator)) || at == "." {
			return
		}
		w.seen[at] = true
	}
	w.dir(path)
}

// leadsToFolder looks at the kind of what a link leads to, and opens nothing: a link to a folder
// elsewhere is a fault if folders are visited, a link to a README is not.
func leadsToFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// leavesRoot is the fault of a link that leads out of the directory.
func leavesRoot(path string) error {
	return &resource.Error{File: path, Err: errors.New("is a symlink that leaves the directory"), Hint: "name the file itself with -f if it belongs to the input"}
}

func manifest(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
