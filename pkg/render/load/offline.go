package load

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// offline refuses a kustomization that would fetch something. Kustomize takes
// URLs in more places than it documents and gives no way to forbid them, so
// everything that it could load is looked at before it runs. What cannot be
// read is left for kustomize to complain about.
func offline(dir string) error {
	s := &survey{seen: map[string]bool{}}
	if remote.MatchString(dir) {
		s.refuse("", "", tree.String(dir))
		return s.errs.Err()
	}
	s.directory(dir)
	return s.errs.Err()
}

type survey struct {
	seen map[string]bool
	errs resource.Errors
}

// directory looks at the kustomization in dir, once.
func (s *survey) directory(dir string) {
	whole, err := filepath.EvalSymlinks(dir)
	if err != nil || s.seen[whole] {
		return
	}
	s.seen[whole] = true
	for _, name := range kustomizationFiles {
		file := filepath.Join(dir, name)
		if b, err := os.ReadFile(file); err == nil {
			s.kustomization(file, b)
		}
	}
}

// places are the fields of a kustomization whose entries are files,
// directories or repositories.
var places = []string{"resources", "bases", "components", "generators", "transformers", "validators", "crds", "configurations"}

// plugins are those of them that configure kustomize's own plugins, which load
// files as well.
var plugins = []string{"generators", "transformers", "validators"}

func (s *survey) kustomization(file string, text []byte) {
	root := parsed(text)
	for _, field := range places {
		for _, entry := range tree.Items(tree.Get(root, field)) {
			s.place(file, field, entry)
		}
	}
	s.loads(file, root)
}

// parsed returns the first document of text, nil when it cannot be read.
func parsed(text []byte) *tree.Node {
	n := &tree.Node{}
	if yaml.Unmarshal(text, n) != nil {
		return nil
	}
	if _, err := tree.Expand(n, 0, tree.Limits{Nodes: len(text) + aliasAllowance, Depth: DefaultMaxDepth}); err != nil {
		return nil
	}
	return tree.Root(n)
}

// place looks at one entry: a local file wins over everything, as in kustomize.
func (s *survey) place(file, field string, entry *tree.Node) {
	name := tree.Str(entry)
	path := filepath.Join(filepath.Dir(file), name)
	plugin := slices.Contains(plugins, field)
	info, err := os.Stat(path)
	switch {
	case plugin && strings.Contains(name, "\n"):
		s.loads(file, parsed([]byte(name)))
	case remote.MatchString(name) && (err != nil || info.IsDir()):
		s.refuse(file, field, entry)
	case err != nil:
	case info.IsDir():
		s.directory(path)
	case plugin:
		if b, err := os.ReadFile(path); err == nil {
			s.documents(path, b)
		}
	}
}

// remote matches what kustomize clones with git or gets with HTTP.
var remote = regexp.MustCompile(`(?i)^(git::)?([a-z][a-z0-9+.-]*://|[a-z0-9_-]+@[^/]*[:/]|github\.com[:/])`)

// web matches what kustomize gets with HTTP where a file is due.
var web = regexp.MustCompile(`(?i)^([^=]*=)?https?:`)

func (s *survey) documents(file string, text []byte) {
	docs, err := split(file, text)
	if err != nil {
		return
	}
	for _, d := range docs {
		s.loads(file, parsed(d.text))
	}
}

// loaded are the keys, in a kustomization and in the configuration of a
// plugin, whose values are names of files.
var loaded = []string{"path", "paths", "files", "envs", "env", "patchesStrategicMerge"}

// loads looks for URLs wherever a file name may stand.
func (s *survey) loads(file string, n *tree.Node) {
	for _, item := range tree.Items(n) {
		s.loads(file, item)
	}
	tree.Each(n, func(k, v *tree.Node) {
		if slices.Contains(loaded, k.Value) {
			for _, name := range append([]*tree.Node{v}, tree.Items(v)...) {
				if web.MatchString(tree.Str(name)) {
					s.refuse(file, k.Value, name)
				}
			}
		}
		s.loads(file, v)
	})
}

func (s *survey) refuse(file, field string, entry *tree.Node) {
	s.errs.Add(&resource.Error{
		File: file, Line: entry.Line, Field: field,
		Err:  fmt.Errorf("%q is a remote place", tree.Str(entry)),
		Hint: "fetch it, look at it, and name the local copy: rendering opens no connection",
	})
}
