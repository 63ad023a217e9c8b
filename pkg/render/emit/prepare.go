package emit

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// prepare makes of n what yaml.v3 writes faithfully, without changing it: parts that differ
// are copies, all else is shared. flow says that n stands in brackets.
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

// block returns style unless the text cannot stand in a block.
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
