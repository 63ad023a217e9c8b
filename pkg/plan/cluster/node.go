package cluster

import corev1 "k8s.io/api/core/v1"

// Node is what the rules read of a node.
type Node struct {
	Name   string
	Labels map[string]string
	// Taints keep pods away that do not tolerate them. An unschedulable node has
	// one for that.
	Taints []corev1.Taint
}
