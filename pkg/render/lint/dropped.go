package lint

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

var _ = advise(advice{
	Rule:  Rule{ID: "object/dropped-field", Severity: Warning, Doc: "A field in a pod template, or at another place that Kruise's schema leaves open, is none of Kubernetes': the API server takes it, and pods are made without it."},
	kinds: []string{anything}, look: droppedFields, always: true,
})

func droppedFields(s *subject) {
	dropped := check.Dropped(s.c, s.r)
	for _, path := range slices.Sorted(maps.Keys(dropped)) {
		s.at(path, dropped[path], "unknown field: Kruise takes it, and nothing comes of it")
	}
}
