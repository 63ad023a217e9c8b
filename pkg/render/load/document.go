package load

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// document is one YAML or JSON document of a file.
type document struct {
	file string
	// raw is the document with all that belongs to it: marker, directives,
	// comments, and empty documents around it.
	raw []byte
	// checkText is the part of raw to parse, line the line that it begins on.
	text []byte
	line int
	// json is set when text is JSON.
	json bool
	// built is the object of a text that was built, nil in files.
	built *builtObject
}

// documents reads the source and cuts it.
func (s source) documents(b *budget) ([]document, error) {
	body, err := b.read(s)
	if err != nil {
		return nil, err
	}
	if err := checkText(s.name, body); err != nil {
		return nil, err
	}
	docs, err := split(s.name, body, max(b.opt.MaxObjects-int(b.documents.Load()), 0))
	b.documents.Add(int64(len(docs)))
	if s.places != nil {
		s.places.place(docs)
	}
	return docs, err
}

// parse turns the document into the objects that it holds, none when it is
// null or an empty List.
func (d document) parse(opt Options) ([]*resource.Resource, error) {
	if n := int64(len(d.text)); n > opt.MaxDocumentBytes {
		return nil, d.fault(d.line, "split it into several documents", "the document is larger than %s", size(opt.MaxDocumentBytes))
	}
	if n := len(d.text); n > opt.MaxNodes && tree.Separators(d.text) > opt.MaxNodes {
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
	origin := resource.Origin{File: d.file, Line: root.Line}
	if d.built != nil {
		origin = d.built.origin(root)
	}
	return objects(root, d.raw, origin)
}

// expanded parses the document and writes its aliases out.
func (d document) expanded(opt Options) (*tree.Node, error) {
	lim := tree.Limits{Nodes: min(opt.MaxNodes, len(d.text)+aliasAllowance), Depth: opt.MaxDepth, Bytes: opt.MaxDocumentBytes}
	root, err := d.node()
	if err != nil {
		return nil, err
	}
	if _, err := tree.Expand(root, d.line-1, lim); err != nil {
		return nil, d.withPlace(err)
	}
	return root, nil
}

// root parses the document under the default limits; nil where it cannot be read.
func (d document) root() *tree.Node {
	doc, err := d.expanded(Options{}.withDefaults())
	if err != nil {
		return nil
	}
	return object(doc)
}

func (d document) node() (*tree.Node, error) {
	if d.json {
		return jsonNode(d.text)
	}
	n := &tree.Node{}
	if err := yaml.Unmarshal(d.text, n); err != nil {
		return nil, d.syntaxError(err)
	}
	// The parser, which stops behind the first document, must have read the text to its end: a block
	// mapping at the first column cannot be followed by anything.
	root := tree.Root(n)
	readToEnd := tree.IsMap(root) && root.Style&yaml.FlowStyle == 0 && root.Column == 1
	if readToEnd && !oddBreaks(d.text) {
		return n, nil
	}
	return n, d.checkSingle()
}

// object returns the root of a parsed document. Comments that are separate from the object, such
// as a license, move to it, so that they stay when it changes.
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

// withPlace puts a fault of the tree into the file.
func (d document) withPlace(err error) error {
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

// objects returns the object root, or what the list root holds, lists in it
// included. Elements of lists have no bytes of their own.
func objects(root *tree.Node, raw []byte, origin resource.Origin) ([]*resource.Resource, error) {
	r := resource.Parsed(root, raw, origin)
	if !isList(root) {
		if err := Check(r); err != nil {
			return nil, err
		}
		return []*resource.Resource{r}, nil
	}
	if strings.HasPrefix(r.APIVersion(), "config.kubernetes.io/") {
		return nil, r.Fault("", "hand it to the fn command on standard input", "a %s is what functions read and write", r.Kind())
	}
	return listElements(r)
}

// isList follows the convention of the API: a kind that ends in List and has
// items. A List may lack them.
func isList(root *tree.Node) bool {
	kind := tree.StrAt(root, "kind")
	items := tree.Get(root, "items")
	return strings.HasSuffix(kind, "List") && (tree.IsSeq(items) || items == nil && kind == "List")
}

func listElements(list *resource.Resource) ([]*resource.Resource, error) {
	var all []*resource.Resource
	var errs resource.Errors
	for i, item := range tree.Items(tree.Get(list.Node(), "items")) {
		if !tree.IsMap(item) {
			errs.Add(list.Fault(fmt.Sprintf("items[%d]", i), "", "is no object"))
			continue
		}
		inheritFromList(item, list)
		origin := list.Origin
		origin.File, origin.Line = list.Origin.At(item.Line)
		rs, err := objects(item, nil, origin)
		all = append(all, rs...)
		errs.Add(err)
	}
	return all, errs.Err()
}

// inheritFromList fills in what elements of typed lists, such as a DeploymentList that
// an API server sent, leave out.
func inheritFromList(item *tree.Node, list *resource.Resource) {
	kind := strings.TrimSuffix(list.Kind(), "List")
	if kind == "" || tree.Has(item, "kind") || tree.Has(item, "apiVersion") {
		return
	}
	head := tree.Map("apiVersion", list.APIVersion(), "kind", kind)
	item.Content = append(head.Content, item.Content...)
}
