package load

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// offline refuses a kustomization that would fetch something. Kustomize takes
// URLs in more places than it documents and gives no way to forbid them, so
// everything that it could load is looked at before it runs. What is not there
// is left for kustomize to complain about; what is there and cannot be
// understood is refused, as kustomize's own reader may understand it.
func offline(dir string) error {
	s := &survey{seen: map[visit]bool{}}
	if remote.MatchString(dir) {
		s.refuse("", "", tree.String(dir))
		return s.errs.Err()
	}
	s.directory(dir, false)
	return s.errs.Err()
}

type survey struct {
	seen map[visit]bool
	errs resource.Errors
}

// visit is one look at a directory. plugin says that what it builds configures
// kustomize's own plugins.
type visit struct {
	dir    string
	plugin bool
}

// directory looks at the kustomization in dir, once.
func (s *survey) directory(dir string, plugin bool) {
	whole, err := filepath.EvalSymlinks(dir)
	if err != nil || s.seen[visit{whole, plugin}] {
		return
	}
	s.seen[visit{whole, plugin}] = true
	for _, name := range kustomizationFiles {
		file := filepath.Join(dir, name)
		if b, ok := s.read(file); ok {
			s.kustomization(file, b, plugin)
		}
	}
}

// plugins are the places whose entries configure kustomize's own plugins, which
// load files as well.
var plugins = []string{"generators", "transformers", "validators"}

// places are the fields of a kustomization whose entries are files,
// directories or repositories.
var places = append([]string{"resources", "bases", "components", "crds", "configurations"}, plugins...)

func (s *survey) kustomization(file string, text []byte, plugin bool) {
	for _, root := range s.parsed(file, text) {
		for _, field := range places {
			for _, entry := range entries(root, field) {
				s.place(file, field, entry, plugin || slices.Contains(plugins, field))
			}
		}
		s.names(file, root, kustomizationNames)
	}
}

// parsed returns the documents of text.
func (s *survey) parsed(file string, text []byte) []*tree.Node {
	docs, err := split(file, text)
	s.errs.Add(err)
	var roots []*tree.Node
	for _, d := range docs {
		n, err := d.expanded(Options{}.withDefaults())
		s.errs.Add(err)
		if err == nil {
			roots = append(roots, tree.Root(n))
		}
	}
	return roots
}

// place looks at one entry: where it names no web page, a local file wins, as
// in kustomize.
func (s *survey) place(file, field string, entry *tree.Node, plugin bool) {
	name := tree.Str(entry)
	path := filepath.Join(filepath.Dir(file), name)
	info, err := os.Stat(path)
	switch {
	case plugin && strings.Contains(name, "\n"):
		s.plugin(file, []byte(name))
	case web.MatchString(name), remote.MatchString(name) && (err != nil || info.IsDir()):
		s.refuse(file, field, entry)
	case err != nil:
	case info.IsDir():
		s.directory(path, plugin)
	case plugin:
		if b, ok := s.read(path); ok {
			s.plugin(path, b)
		}
	default:
		s.regular(path)
	}
}

// remote matches what kustomize clones with git or gets with HTTP.
var remote = regexp.MustCompile(`(?i)^(git::)?([a-z][a-z0-9+.-]*://|[a-z0-9_-]+@[^/]*[:/]|github\.com[:/])`)

// plugin looks at what configures plugins, which need not be anything that a
// plugin understands.
func (s *survey) plugin(file string, text []byte) {
	for _, n := range s.parsed(file, text) {
		s.names(file, n, pluginNames)
	}
}

func (s *survey) refuse(file, field string, entry *tree.Node) {
	s.errs.Add(&resource.Error{
		File: file, Line: entry.Line, Field: field,
		Err:  fmt.Errorf("%q is a remote place", tree.Str(entry)),
		Hint: "fetch it, look at it, and name the local copy: rendering opens no connection",
	})
}
