package lower

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// dotless gives the StatefulSet that a CloneSet becomes a name that the API
// server takes, which has no dots as pods' host names have none. A CloneSet's
// own pods are not found by name, so nobody misses the old one.
func (l *lowering) dotless(n *tree.Node) *tree.Node {
	name := l.r.Name()
	if !l.form.statefulSet() || !strings.Contains(name, ".") {
		return n
	}
	l.rename(n, strings.ReplaceAll(name, ".", "-"))
	l.report("cloneset/name", "metadata.name", "")
	return n
}

// named refuses a name that a StatefulSet cannot have: with another one its pods
// would not find their claims.
func (s *statefulSet) named() error {
	if !strings.Contains(s.r.Name(), ".") {
		return nil
	}
	return s.r.Fault("metadata.name", "pods and claims are called after it: move the data to a StatefulSet of another name, or keep this one with --target kruise",
		"a StatefulSet's name has no dots")
}
