package fn

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const (
	group          = "config.kubernetes.io"
	functionConfig = "functionConfig"
)

// versions of the ResourceList that can be read; each is echoed.
var versions = []string{"v1", "v1beta1", "v1alpha1"}

// resourceList is the input, whose tree becomes the output.
type resourceList struct {
	doc, root *tree.Node
	functions *tree.Node
}

func parse(text []byte) (*resourceList, error) {
	doc, err := load.Single(input, text)
	if err != nil {
		return nil, err
	}
	l := &resourceList{doc: doc, root: tree.Root(doc)}
	if err := l.check(); err != nil {
		return nil, resource.Parsed(l.root, nil, resource.Origin{File: input}).Wrap(err, "")
	}
	l.functions = tree.Get(l.root, functionConfig)
	forgetLines(l.root)
	return l, nil
}

// check refuses what is not a ResourceList. Without items and functionConfig it
// is not one for kustomize either (docs/facts/kustomize.md#wire-format).
func (l *resourceList) check() error {
	version := tree.StrAt(l.root, "apiVersion")
	items := tree.Get(l.root, "items")
	switch {
	case !tree.IsMap(l.root) || tree.StrAt(l.root, "kind") != input || resource.GroupOf(version) != group:
		return tree.Errorf(l.root, "", "kustomize and kpt call this; see kubectl kruise render for files", "the input is not a ResourceList of %s", group)
	case !slices.Contains(versions, version[len(group)+1:]):
		return tree.Errorf(l.root, "apiVersion", "this version reads "+group+"/v1 and /v1beta1", "unknown version %q", version)
	case items == nil && !tree.Has(l.root, "items") && tree.Get(l.root, functionConfig) == nil:
		return tree.Errorf(l.root, "items", "write items: [] for an empty list", "is missing")
	case items != nil && !tree.IsSeq(items):
		return tree.Errorf(l.root, "items", "", "is no list")
	}
	for i, item := range tree.Items(items) {
		if !tree.IsMap(item) {
			return tree.Errorf(l.root, fmt.Sprintf("items[%d]", i), "", "is no object")
		}
	}
	return l.checkResults()
}

func (l *resourceList) checkResults() error {
	results := tree.Get(l.root, "results")
	if results == nil || tree.IsSeq(results) {
		return nil
	}
	return tree.Errorf(l.root, "results", "", "is no list")
}

// items returns the objects; the slice is the caller's.
func (l *resourceList) items() []*tree.Node {
	return slices.Clone(tree.Items(tree.Get(l.root, "items")))
}

// forgetLines removes line numbers, which are those of the ResourceList: no
// file that somebody could open has them.
func forgetLines(n *tree.Node) {
	if n.Line != 0 { // documents share the keys that have none
		n.Line = 0
	}
	for _, child := range n.Content {
		forgetLines(child)
	}
}

// write puts the outcome into the list and writes it. Whatever else is in the
// list, such as functionConfig, is echoed.
func (l *resourceList) write(w io.Writer, o *outcome) error {
	items := tree.Seq(o.items...)
	if old := tree.Get(l.root, "items"); old != nil {
		items.HeadComment, items.LineComment, items.FootComment = old.HeadComment, old.LineComment, old.FootComment
	}
	if len(o.items) == 0 {
		items.Style = yaml.FlowStyle
	}
	tree.Set(l.root, "items", items)
	if results := l.results(o.results); len(results) > 0 {
		tree.Set(l.root, "results", tree.Seq(results...))
	}
	l.root.Style &^= yaml.FlowStyle
	text, err := emit.Tree(l.doc)
	if err != nil {
		return fmt.Errorf("the result cannot be written as YAML: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// results returns those that came in, then new ones that are not among them.
func (l *resourceList) results(more []*tree.Node) []*tree.Node {
	all := slices.Clone(tree.Items(tree.Get(l.root, "results")))
	seen := make(map[string]bool, len(all)+len(more))
	for _, r := range all {
		seen[meaning(r)] = true
	}
	for _, r := range more {
		if m := meaning(r); !seen[m] {
			seen[m] = true
			all = append(all, r)
		}
	}
	return all
}

// meaning is the same text for two results that say the same.
func meaning(r *tree.Node) string {
	b, err := json.Marshal(tree.Value(r))
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		panic("fn: " + err.Error())
	}
	return string(b)
}
