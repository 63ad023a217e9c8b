package check

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const protection = "metadata.labels[" + kruise.DeleteProtectionLabel + "]"

// deletion answers whether the object may be deleted
// (docs/kruise/protection.md#podunavailablebudget and
// docs/kruise/protection.md#deletion-protection). What is being deleted already may go.
func (s *subject) deletion() {
	n := s.r.Node()
	if tree.Get(n, "metadata", "deletionTimestamp") != nil {
		return
	}
	if s.r.Is("", "Pod") {
		s.guardedPod()
		return
	}
	holds := holders[s.r.Group()+"/"+s.r.Kind()]
	if holds == nil {
		return
	}
	switch s.r.Label(kruise.DeleteProtectionLabel) {
	case kruise.DeleteProtectionAlways:
		s.protects("it is protected always")
	case kruise.DeleteProtectionCascading:
		holds(s)
	}
}

func (s *subject) protects(format string, args ...any) {
	s.against(protected, protection, "remove the label first", "the object may not be deleted: "+format, args...)
}

// holders look at what Cascading protects of each kind that protection knows.
var holders = map[string]func(*subject){
	"apps/Deployment":                               replicated,
	"apps/ReplicaSet":                               replicated,
	"apps/StatefulSet":                              replicated,
	kruise.Group + "/CloneSet":                      replicated,
	kruise.Group + "/StatefulSet":                   replicated,
	kruise.Group + "/UnitedDeployment":              replicated,
	"/Namespace":                                    inhabited,
	"apiextensions.k8s.io/CustomResourceDefinition": defining,
	// Cascading means nothing to these.
	"/Service":                  func(*subject) {},
	"networking.k8s.io/Ingress": func(*subject) {},
	"extensions/Ingress":        func(*subject) {},
}

func replicated(s *subject) {
	if n := replicasOf(s.r); n > 0 {
		s.protects("it has %d replicas", n)
	}
}

// inhabited: a namespace with pods that run or claims that are bound.
func inhabited(s *subject) {
	pods, claims := 0, 0
	for _, r := range s.inside("", "Pod") {
		if kruise.ActivePod(r.Node()) {
			pods++
		}
	}
	for _, r := range s.inside("", "PersistentVolumeClaim") {
		phase := tree.StrAt(r.Node(), "status", "phase")
		if (phase == "" || phase == "Bound") && tree.Get(r.Node(), "metadata", "deletionTimestamp") == nil {
			claims++
		}
	}
	switch {
	case pods > 0:
		s.protects("the namespace has %d active pods", pods)
	case claims > 0:
		s.protects("the namespace has %d bound claims", claims)
	}
}

// inside are the objects of a kind in the namespace that is to be deleted.
func (s *subject) inside(group, kind string) []*resource.Resource {
	return slices.DeleteFunc(s.c.Facts.All(group, kind), func(r *resource.Resource) bool {
		return s.c.Facts.NamespaceOf(r) != s.r.Name()
	})
}

// defining: the gate that looks at a definition's objects is off by default,
// and then the label refuses at once.
func defining(s *subject) {
	s.protects("Kruise's feature gate DeletionProtectionForCRDCascadingGate is off, and Cascading refuses then")
}
