package emit

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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
