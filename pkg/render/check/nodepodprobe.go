package check

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindNodePodProbe, object: kruise.NodePodProbe{},
	// The controller writes these objects; only the schema looks at them.
	check: func(s *subject) { s.read(&kruise.NodePodProbe{}) },
})
