package tree

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// Limits bound what a document may grow to when its aliases are written out.
type Limits struct {
	// Nodes is the number of nodes after expansion; 0 means no limit.
	Nodes int
	// Depth is the number of levels of nesting; 0 means no limit.
	Depth int
	// Bytes is the length of the text that aliases repeat; 0 means no limit. The copies share
	// their text, so that it takes no memory until it is written.
	Bytes int64
}

// Expand prepares a parsed document for the engine, in place: aliases become
// copies of what they name, merge keys ("<<") become ordinary keys, anchors go,
// and offset is added to every line number. It refuses cyclic aliases,
// duplicate keys, keys that are not scalars and growth beyond the limits, with
// a *Error that names the line. Aliased reports whether the text held any
// alias or anchor.
func Expand(n *Node, offset int, lim Limits) (aliased bool, err error) {
	e := expander{offset: offset, lim: lim}
	if err := e.walk(n, 0); err != nil {
		return e.aliased, err
	}
	return e.aliased, nil
}

type expander struct {
	offset  int
	lim     Limits
	nodes   int
	bytes   int64
	open    []*Node
	aliased bool
}

func (e *expander) fail(n *Node, hint, format string, args ...any) error {
	return &Error{Line: n.Line, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// walk visits each node once in document order, so an anchor is always
// complete and already expanded when an alias to it is met.
func (e *expander) walk(n *Node, depth int) error {
	e.nodes++
	n.Line += e.offset
	if e.lim.Nodes > 0 && e.nodes > e.lim.Nodes {
		return e.fail(n, "write the repeated parts out, or split the document", "the document grows beyond %s", counted.Of(e.lim.Nodes, "node"))
	}
	if e.lim.Depth > 0 && depth > e.lim.Depth {
		return e.fail(n, "", "nesting is deeper than %d levels", e.lim.Depth)
	}
	if n.Anchor != "" {
		e.aliased, n.Anchor = true, ""
	}
	if n.Kind != yaml.ScalarNode && n.ShortTag() == mergeTag {
		n.Tag, n.Style = "", n.Style&^yaml.TaggedStyle // it is no key
	}
	e.open = append(e.open, n)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	for i, child := range n.Content {
		if child.Kind == yaml.AliasNode {
			copied, err := e.resolve(child)
			if err != nil {
				return err
			}
			n.Content[i], child = copied, copied
		} else if err := e.walk(child, depth+1); err != nil {
			return err
		}
		if isMerge(child) && (n.Kind != yaml.MappingNode || i%2 == 1 || child.Value != "<<") {
			child.Tag, child.Style = yaml.NodeTagString, child.Style&^yaml.TaggedStyle
		}
	}
	if n.Kind == yaml.MappingNode {
		return e.mapping(n)
	}
	return nil
}

func (e *expander) resolve(alias *Node) (*Node, error) {
	e.aliased = true
	alias.Line += e.offset
	target := alias.Alias
	if slices.Contains(e.open, target) {
		return nil, e.fail(alias, "an alias must not be inside the value that it names", "an alias is cyclic")
	}
	w := count(target, int64(e.lim.Nodes-e.nodes))
	e.nodes, e.bytes = e.nodes+int(w.Nodes), e.bytes+w.Bytes
	if e.lim.Nodes > 0 && e.nodes > e.lim.Nodes {
		return nil, e.fail(alias, "write the repeated parts out, or split the document", "aliases make the document grow beyond %s", counted.Of(e.lim.Nodes, "node"))
	}
	if e.lim.Bytes > 0 && e.bytes > e.lim.Bytes {
		return nil, e.fail(alias, "write the repeated parts out, or split the document", "aliases repeat more than %s", counted.Of(int(e.lim.Bytes), "byte"))
	}
	c := Clone(target)
	c.HeadComment, c.LineComment, c.FootComment = alias.HeadComment, alias.LineComment, alias.FootComment
	return c, nil
}

func (e *expander) mapping(n *Node) error {
	merge := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return e.fail(k, "keys of Kubernetes objects are plain text", "a mapping key is not a scalar")
		}
		if k.Style == 0 && k.ShortTag() == yaml.NodeTagNull {
			return e.fail(k, "quote it if the text is meant", "a mapping key is empty or null")
		}
		if isMerge(k) {
			merge = i
		}
	}
	if err := e.unique(n); err != nil {
		return err
	}
	if merge >= 0 {
		// Fold a "<<" key in: the mapping's own keys win, then earlier sources.
		e.aliased = true
		key, source := n.Content[merge], n.Content[merge+1]
		n.Content = append(n.Content[:merge:merge], n.Content[merge+2:]...)
		sources := []*Node{source}
		if source.Kind == yaml.SequenceNode {
			sources = source.Content
		}
		for _, s := range sources {
			if s.Kind != yaml.MappingNode {
				return e.fail(key, "use << only with an alias of a mapping", "merge key << does not name a mapping")
			}
			Each(s, func(k, v *Node) {
				if !Has(n, k.Value) {
					n.Content = append(n.Content, Clone(k), v)
				}
			})
		}
		return nil
	}
	return nil
}

// isMerge reports a merge key. Elsewhere "<<" is text, although YAML tags it
// likewise.
func isMerge(n *Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == mergeTag }

const mergeTag = "!!merge"

func (e *expander) unique(n *Node) error {
	if len(n.Content) <= 32 {
		for i := 2; i+1 < len(n.Content); i += 2 {
			for j := 0; j < i; j += 2 {
				if n.Content[i].Value == n.Content[j].Value {
					return e.duplicate(n.Content[i], n.Content[j])
				}
			}
		}
		return nil
	}
	seen := make(map[string]*Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if first := seen[k.Value]; first != nil {
			return e.duplicate(k, first)
		}
		seen[k.Value] = k
	}
	return nil
}

func (e *expander) duplicate(k, first *Node) error {
	return e.fail(k, "remove one of the two", "key %q appears twice in one mapping (first on line %d)", k.Value, first.Line)
}
