package lower

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// statefulSetNameLimit is the longest name with which a StatefulSet's pods come
// into being: their label controller-revision-hash adds eleven characters.
const statefulSetNameLimit = 63 - 11

// fitsStatefulSet reports whether a StatefulSet can be called so. Dots cannot be in it, as
// pods' host names have none.
func fitsStatefulSet(name string) bool {
	return len(name) <= statefulSetNameLimit && !strings.Contains(name, ".")
}

// renamed gives the StatefulSet that a CloneSet becomes a name that it can have.
// A CloneSet's own pods are not found by name, so nobody misses the old one.
func (l *lowering) renamed(n *tree.Node) *tree.Node {
	name := l.r.Name()
	if !l.form.statefulSet() || fitsStatefulSet(name) {
		return n
	}
	now := strings.ReplaceAll(name, ".", "-")
	if !fitsStatefulSet(now) {
		now = stage.PieceName(name, "set", statefulSetNameLimit, true)
	}
	l.rename(n, now)
	l.report("cloneset/name", "metadata.name", "")
	return n
}

// named refuses a name that a StatefulSet cannot have: with another one its pods
// would not find their claims.
func (s *statefulSet) named() error {
	if name := s.r.Name(); !fitsStatefulSet(name) {
		return s.r.Fault("metadata.name", "pods and claims are called after it: move the data to one of another name, or keep this one with --target kruise",
			"a StatefulSet's name has no dots and at most %d characters", statefulSetNameLimit)
	}
	return nil
}
