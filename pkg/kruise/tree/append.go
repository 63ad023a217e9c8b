package tree

import "sigs.k8s.io/kustomize/kyaml/yaml"

// Append adds copies of items to a list, which is then written line by line:
// items may have comments.
func Append(list *Node, items []*Node) {
	list.Style &^= yaml.FlowStyle
	for _, item := range items {
		list.Content = append(list.Content, Clone(item))
	}
}
