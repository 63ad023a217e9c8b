package emit

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// encodeYAML returns every resource as a YAML document: its bytes, when it
// still has them. It empties rs, so that memory goes back meanwhile.
func encodeYAML(rs []*resource.Resource, limits stage.Limits) ([][]byte, error) {
	return encodeAll(rs, limits, yamlBytes, resourceText)
}

// encodeAll encodes every resource, on all cores, and empties rs. It returns the faults of all resources, or that the output would
// hold more than it may: then the rest is not encoded.
func encodeAll(rs []*resource.Resource, limits stage.Limits, weight func(*resource.Resource) int64, encode func(*resource.Resource) ([]byte, error)) ([][]byte, error) {
	docs, errs, left := make([][]byte, len(rs)), make([]error, len(rs)), newRoom(limits)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rs)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(rs); i = int(next.Add(1)) - 1 {
				docs[i], errs[i] = left.make(weight(rs[i]), func() ([]byte, error) { return encode(rs[i]) })
				rs[i] = nil
			}
		})
	}
	wg.Wait()
	if err := left.fault(); err != nil {
		return nil, err
	}
	var all resource.Errors
	for _, err := range errs {
		all.Add(err)
	}
	return docs, all.Err()
}

// resourceText returns the bytes that r came in, or is written as.
func resourceText(r *resource.Resource) ([]byte, error) {
	if raw := r.Raw(); raw != nil {
		return raw, nil
	}
	n := r.Node()
	text, err := encodeNode(n, styleOf(n))
	if err != nil {
		return nil, r.Wrap(fmt.Errorf("cannot be written as YAML: %w", err), "")
	}
	return text, nil
}

// encodeNode has yaml.v3 write n. It holds every event that an encoder has ever emitted, some
// 300 bytes each, so one encoder must not serve many documents.
func encodeNode(n *tree.Node, style yaml.SequenceIndentStyle) ([]byte, error) {
	var b bytes.Buffer
	err := yaml.NewEncoderWithOptions(&b, &yaml.EncoderOptions{SeqIndent: style}).Encode(prepare(n, false))
	return b.Bytes(), err
}

// Tree returns n, an object or a document, as one YAML document with compact
// lists. It is for those who write a wrapper around objects, such as a
// ResourceList.
func Tree(n *tree.Node, limits stage.Limits) ([]byte, error) {
	left := newRoom(limits)
	text, err := left.make(tree.Weigh(n).Bytes, func() ([]byte, error) { return encodeNode(n, yaml.CompactSequenceStyle) })
	if full := left.fault(); full != nil {
		return nil, full
	}
	return text, err
}

// prepare returns a form of n that yaml.v3 writes faithfully, without changing n: parts that
// differ are copies, all else is shared. flow is true if n is in brackets.
func prepare(n *tree.Node, flow bool) *tree.Node {
	if n.Kind == yaml.ScalarNode {
		return scalar(n, flow)
	}
	flow = flow || n.Style&yaml.FlowStyle != 0
	out := n
	for i, child := range n.Content {
		c := prepare(child, flow)
		if c == child {
			continue
		}
		if out == n {
			out = tree.Shallow(n)
		}
		out.Content[i] = c
	}
	return out
}

// scalar returns n, or a copy in another form where yaml.v3 would write n so
// that it reads as something else: it loses line breaks of folded text with
// indented lines, cannot indent a block that begins with a tab, leaves "<<"
// bare, which is a merge key, and makes an empty null in brackets an empty
// text.
func scalar(n *tree.Node, flow bool) *tree.Node {
	style, value := styleFor(n), n.Value
	if flow && value == "" && n.Tag == yaml.NodeTagNull {
		value = "null"
	}
	if style == n.Style && value == n.Value {
		return n
	}
	c := *n
	c.Style, c.Value = style, value
	return &c
}

var (
	blockStyles = yaml.LiteralStyle | yaml.FoldedStyle
	quotes      = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
)

func styleFor(n *tree.Node) yaml.Style {
	switch {
	case n.Value == "<<" && n.Style == 0 && n.Tag == yaml.NodeTagString:
		return yaml.DoubleQuotedStyle
	case n.Style&yaml.FoldedStyle != 0 && !foldable(n.Value):
		return block(n.Value, n.Style&^blockStyles|yaml.LiteralStyle)
	case n.Style&blockStyles != 0 || n.Style&quotes == 0 && strings.Contains(n.Value, "\n"):
		return block(n.Value, n.Style)
	}
	return n.Style
}

// block returns style unless the text cannot be written in a block.
func block(text string, style yaml.Style) yaml.Style {
	if strings.HasPrefix(strings.TrimLeft(text, "\n"), "\t") {
		return style&^blockStyles | yaml.DoubleQuotedStyle
	}
	return style
}

// foldable reports whether text survives folding: no line is indented and it
// ends with at most one line break.
func foldable(text string) bool {
	return !strings.Contains(text, "\n ") && !strings.Contains(text, "\n\t") && !strings.HasSuffix(text, "\n\n")
}

// styleOf returns the sequence style of a document: that of its first block
// sequence that was read from a file, compact when there is none.
func styleOf(n *tree.Node) yaml.SequenceIndentStyle {
	if style, ok := derive(n); ok {
		return style
	}
	return yaml.CompactSequenceStyle
}

// derive compares the columns of keys and of the sequences below them. Nodes
// that the engine made have no columns.
func derive(n *tree.Node) (style yaml.SequenceIndentStyle, ok bool) {
	if n == nil || n.Style&yaml.FlowStyle != 0 {
		return "", false
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && indented(n.Content[i-1], child) {
			if child.Column > n.Content[i-1].Column {
				return yaml.WideSequenceStyle, true
			}
			return yaml.CompactSequenceStyle, true
		}
		if style, ok = derive(child); ok {
			return style, true
		}
	}
	return "", false
}

func indented(key, value *tree.Node) bool {
	return tree.IsSeq(value) && value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0 && key.Column > 0 && value.Column > 0
}
