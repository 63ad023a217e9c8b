package emit

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// faithful returns n, or a copy of the parts of it that yaml.v3 would write so
// that they read as something else: it loses line breaks of folded text with
// indented lines, cannot indent a block that begins with a tab, and leaves
// "<<" bare, which is a merge key. Such scalars get another style.
func faithful(n *tree.Node) *tree.Node {
	if n.Kind == yaml.ScalarNode {
		style := faithfulStyle(n)
		if style == n.Style {
			return n
		}
		c := *n
		c.Style = style
		return &c
	}
	copied := false
	out := n
	for i, child := range n.Content {
		c := faithful(child)
		if c == child {
			continue
		}
		if !copied {
			out, copied = tree.Shallow(n), true
		}
		out.Content[i] = c
	}
	return out
}

var blockStyles = yaml.LiteralStyle | yaml.FoldedStyle

func faithfulStyle(n *tree.Node) yaml.Style {
	switch {
	case n.Value == "<<" && n.Style == 0 && n.Tag == yaml.NodeTagString:
		return yaml.DoubleQuotedStyle
	case n.Style&yaml.FoldedStyle != 0 && !foldable(n.Value):
		return block(n.Value, n.Style&^blockStyles|yaml.LiteralStyle)
	case n.Style&blockStyles != 0 || n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 && strings.Contains(n.Value, "\n"):
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
