package lint

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about kinds.
var _ = advise(advice{
	Rule:  Rule{ID: "object/unknown-kind", Severity: Error, Doc: "Kruise has no kind of this name in this group, and no CustomResourceDefinition among the objects brings it: no API server takes the object, unless the kind is newer than this program."},
	kinds: []string{anything}, look: unknownKind,
})

func unknownKind(s *subject) {
	group, kind := s.r.Group(), s.r.Kind()
	if group != kruise.Group && group != kruise.PolicyGroup {
		return
	}
	if defined(s, group, kind) {
		return
	}
	var there []string
	hint := ""
	for _, k := range kruise.Kinds() {
		switch {
		case k.Group == group && k.Kind == kind:
			return
		case strings.EqualFold(k.Kind, kind):
			hint = "write " + k.Kind + " of " + k.Group
		case k.Group == group:
			there = append(there, k.Kind)
		}
	}
	if hint == "" {
		hint = "one of: " + strings.Join(there, ", ")
	}
	s.say("kind", hint, "%s has no kind %s", group, kind)
}

// defined reports whether a CustomResourceDefinition among the objects serves the kind.
func defined(s *subject, group, kind string) bool {
	return slices.ContainsFunc(s.c.Facts.All("apiextensions.k8s.io", "CustomResourceDefinition"), func(d *resource.Resource) bool {
		spec := tree.Get(d.Node(), "spec")
		return tree.StrAt(spec, "group") == group && tree.StrAt(tree.Get(spec, "names"), "kind") == kind
	})
}
