package linear

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// folder reads files for one kustomization, as kustomize's own loader does with
// its default restrictions: nothing outside of the folder, links followed. It
// knows neither repositories nor web pages.
type folder struct {
	disk filesys.FileSystem
	root filesys.ConfirmedDir
	// above is the folder of the kustomization that named this one; nil for the
	// outermost.
	above *folder
	// aliases are those of the whole build.
	aliases *allowance
	// last is the real path of what was loaded last.
	last string
}

var _ ifc.Loader = &folder{}

func rooted(disk filesys.FileSystem, dir string) (*folder, error) {
	root, err := filesys.ConfirmDir(disk, dir)
	return &folder{disk: disk, root: root, aliases: &allowance{left: maxAliased}}, err
}

// Repo is empty: nothing comes from a repository.
func (f *folder) Repo() string { return "" }

// Root is the folder's real path.
func (f *folder) Root() string { return f.root.String() }

// Cleanup has nothing to do.
func (f *folder) Cleanup() error { return nil }

// elsewhere matches what kustomize might take for a repository or a web page.
var elsewhere = regexp.MustCompile(`(?i)[:@?]|github\.com|\.git(/|$)|_git/`)

var errElsewhere = errors.New("the name may be of a remote place")

// Load reads a file in or below the folder.
func (f *folder) Load(path string) ([]byte, error) {
	if strings.Contains(path, ":") {
		return nil, errElsewhere
	}
	if !filepath.IsAbs(path) {
		path = f.root.Join(path)
	}
	dir, name, err := f.disk.CleanedAbs(path)
	switch {
	case err != nil:
		return nil, err
	case name == "":
		return nil, fmt.Errorf("%s is a directory", path)
	case !dir.HasPrefix(f.root):
		return nil, fmt.Errorf("%s leaves %s", path, f.root)
	}
	f.last = dir.Join(name)
	text, err := f.disk.ReadFile(f.last)
	if err == nil {
		err = f.aliases.admit(text)
	}
	return text, err
}

// New returns the folder of another kustomization.
func (f *folder) New(path string) (ifc.Loader, error) { return f.below(path) }

func (f *folder) below(path string) (*folder, error) {
	if path == "" || filepath.IsAbs(path) || ambiguous(path) || elsewhere.MatchString(path) {
		return nil, errElsewhere
	}
	root, err := filesys.ConfirmDir(f.disk, f.root.Join(path))
	if err != nil {
		return nil, err
	}
	for at := f; at != nil; at = at.above {
		if at.root.HasPrefix(root) {
			return nil, errors.New("the kustomization contains itself")
		}
	}
	return &folder{disk: f.disk, root: root, above: f, aliases: f.aliases}, nil
}

// ambiguous reports names such as "a..b", which kustomize refuses.
func ambiguous(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "." && part != ".." && strings.Contains(part, "..") {
			return true
		}
	}
	return false
}
