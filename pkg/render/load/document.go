package load

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// parse turns the document into the objects that it holds, none when it is
// null or an empty List.
func (d document) parse(opt Options) ([]*resource.Resource, error) {
	if n := int64(len(d.text)); n > opt.MaxDocumentBytes {
		return nil, d.fault(d.line, "split it into several documents", "the document is larger than %s", size(opt.MaxDocumentBytes))
	}
	if n := len(d.text); n > opt.MaxNodes && separators(d.text) > opt.MaxNodes {
		return nil, d.fault(d.line, "split it into several documents", "the document has more than %d values", opt.MaxNodes)
	}
	root, err := d.expanded(opt)
	if err != nil {
		return nil, err
	}
	root = object(root)
	if tree.IsNull(root) {
		return nil, nil
	}
	return objects(root, d.raw, resource.Origin{File: d.file, Line: root.Line})
}

// expanded parses the document and writes its aliases out.
func (d document) expanded(opt Options) (*tree.Node, error) {
	lim := tree.Limits{Nodes: min(opt.MaxNodes, len(d.text)+aliasAllowance), Depth: opt.MaxDepth}
	if !d.json {
		if root, ok := readDirectly(d.text, d.line-1, lim); ok {
			return root, nil
		}
	}
	root, err := d.node()
	if err != nil {
		return nil, err
	}
	if _, err := tree.Expand(root, d.line-1, lim); err != nil {
		return nil, d.placed(err)
	}
	return root, nil
}

func (d document) node() (*tree.Node, error) {
	if d.json {
		return jsonNode(d.text)
	}
	n := &tree.Node{}
	if err := yaml.Unmarshal(d.text, n); err != nil {
		return nil, d.broken(err)
	}
	if whole(n) && !oddBreaks(d.text) {
		return n, nil
	}
	return n, d.single()
}

// whole reports whether the parser, which stops behind the first document,
// must have read the text to its end: a block mapping at the first column
// cannot be followed by anything.
func whole(doc *tree.Node) bool {
	root := tree.Root(doc)
	return tree.IsMap(root) && root.Style&yaml.FlowStyle == 0 && root.Column == 1
}

// object returns the root of a parsed document. Comments that stand apart from
// the object, such as a licence, move to it, so that they stay when it changes.
func object(doc *tree.Node) *tree.Node {
	root := tree.Root(doc)
	if root == nil || root == doc {
		return root
	}
	if root.HeadComment == "" {
		root.HeadComment = doc.HeadComment
	}
	if root.FootComment == "" {
		root.FootComment = doc.FootComment
	}
	return root
}

func (d document) fault(line int, hint, format string, args ...any) error {
	return &resource.Error{File: d.file, Line: line, Err: fmt.Errorf(format, args...), Hint: hint}
}

// placed puts a fault of the tree into the file.
func (d document) placed(err error) error {
	var te *tree.Error
	if !errors.As(err, &te) {
		return d.fault(d.line, "", "%w", err)
	}
	e := &resource.Error{File: d.file, Line: te.Line, Field: te.Path, Err: errors.New(te.Msg), Hint: te.Hint}
	if h := template(lineAt(d.text, te.Line-d.line+1)); h != "" {
		e.Hint = h
	}
	return e
}
