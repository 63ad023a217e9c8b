package cluster

// Node is what the rules read of a node.
type Node struct {
	Name   string
	Labels map[string]string
}
