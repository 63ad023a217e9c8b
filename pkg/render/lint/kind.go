package lint

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Rules about kinds.
var _ = advise(advice{
	Rule:  Rule{ID: "object/unknown-kind", Severity: Warning, Doc: "Kruise has no kind of this name in this group: unless it is newer than this program, no API server takes the object."},
	kinds: []string{anything}, look: unknownKind,
})

func unknownKind(s *subject) {
	group, kind := s.r.Group(), s.r.Kind()
	if group != kruise.Group && group != kruise.PolicyGroup {
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
