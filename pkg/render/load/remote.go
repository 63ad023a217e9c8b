package load

import (
	"regexp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// kustomizationNames are the places of a kustomization that hold the name of a
// file, or a list of such names, and nothing else. Lists on the way are gone
// through. A key of the same name elsewhere, such as a label called path, is
// none of kustomize's business.
var kustomizationNames = [][]string{
	{"openapi", "path"},
	{"patches"}, // names only, as kustomize once had them
	{"patches", "path"},
	{"patchesStrategicMerge"},
	{"patchesJson6902", "path"},
	{"replacements", "path"},
	{"configMapGenerator", "files"},
	{"configMapGenerator", "envs"},
	{"configMapGenerator", "env"},
	{"secretGenerator", "files"},
	{"secretGenerator", "envs"},
	{"secretGenerator", "env"},
}

// pluginNames are the same places in the configurations of kustomize's own
// plugins.
var pluginNames = [][]string{
	{"path"},
	{"paths"},
	{"files"},
	{"envs"},
	{"env"},
	{"targetFilePath"},
	{"replacements", "path"},
}

// web matches what kustomize gets with HTTP where a file is due.
var web = regexp.MustCompile(`(?i)^([^=]*=)?https?:`)

// names refuses URLs, and what is no file, where a file name is due.
func (s *survey) names(file string, root *tree.Node, places [][]string) {
	for _, place := range places {
		for _, name := range entries(root, place...) {
			if web.MatchString(tree.Str(name)) {
				s.refuse(file, strings.Join(place, "."), name)
				continue
			}
			s.named(file, name)
		}
	}
}

// entries returns what stands at path below n, elements of lists one by one.
// Kustomize reads keys without regard to case.
func entries(n *tree.Node, path ...string) []*tree.Node {
	if tree.IsSeq(n) {
		var all []*tree.Node
		for _, item := range n.Content {
			all = append(all, entries(item, path...)...)
		}
		return all
	}
	if len(path) == 0 {
		return []*tree.Node{n}
	}
	var all []*tree.Node
	tree.Each(n, func(k, v *tree.Node) {
		if strings.EqualFold(k.Value, path[0]) {
			all = append(all, entries(v, path[1:]...)...)
		}
	})
	return all
}
