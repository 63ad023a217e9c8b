package check

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// builtInGroups are groups of Kubernetes' own that no CustomResourceDefinition can add kinds to.
var builtInGroups = []string{"", "apps", "batch", "policy", "autoscaling"}

// wrongGroup refuses one of Kruise's kinds in a group that cannot have it. Only a group of
// Kubernetes' own is known not to have it in any cluster.
func wrongGroup(s *subject) {
	group, kind := s.Object.Group(), s.Object.Kind()
	builtIn := slices.Contains(builtInGroups, group)
	misspelt := strings.Contains(group, "kruise") || tree.Nearest(group, slices.Values([]string{kruise.Group, kruise.PolicyGroup})) != ""
	switch {
	case group == kruise.Group, group == kruise.PolicyGroup, slices.Contains(workloadKinds[group], kind), !builtIn && !misspelt:
		return
	}
	for _, k := range kruise.Kinds() {
		if !strings.EqualFold(k.Kind, kind) || s.isDefined(group, kind) {
			continue
		}
		served := s.c.Kruise.OrNewest().Versions(k.Group, k.Kind)
		version := k.Group + "/" + kruise.V1alpha1
		if len(served) > 0 {
			version = k.Group + "/" + served[len(served)-1]
		}
		err := s.Object.Fault("apiVersion", "did you mean "+version+"?", "%s has no kind %s: no API server accepts the object", s.Object.APIVersion(), kind)
		s.faults = append(s.faults, Fault{Rule: foreignGroup, OfRelease: !builtIn, Error: resourceError(err)})
		return
	}
}

// isDefined reports whether a CustomResourceDefinition among the objects serves the kind.
func (s *subject) isDefined(group, kind string) bool {
	return slices.ContainsFunc(s.c.Facts.All("apiextensions.k8s.io", "CustomResourceDefinition"), func(d *resource.Resource) bool {
		spec := tree.Get(d.Node(), "spec")
		return tree.StrAt(spec, "group") == group && tree.StrAt(tree.Get(spec, "names"), "kind") == kind
	})
}
