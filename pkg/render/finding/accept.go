package finding

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Acceptance has the findings that were reviewed: they fail nothing.
type Acceptance struct {
	// IDs are accepted wherever they are found.
	IDs []string
	// Baseline are accepted one by one, by ID, object and field.
	Baseline []Finding
}

// key is what identifies a finding across renders: neither a line nor the text.
type key struct {
	id     string
	object resource.ID
	field  string
}

// Apply marks the findings that are accepted. It returns the entries that no finding has any more,
// in order: IDs, and findings of the baseline.
func (a Acceptance) Apply(list []Finding) (ids []string, baseline []Finding) {
	known := make(map[key]bool, len(a.Baseline))
	for _, f := range a.Baseline {
		known[key{f.ID, f.Object, f.Field}] = false
	}
	found := map[string]bool{}
	for i := range list {
		f := &list[i]
		found[f.ID] = true
		k := key{f.ID, f.Object, f.Field}
		_, reviewed := known[k]
		if reviewed {
			known[k] = true
		}
		f.Accepted = f.Accepted || reviewed || slices.Contains(a.IDs, f.ID)
	}
	for _, id := range a.IDs {
		if !found[id] {
			ids = append(ids, id)
		}
	}
	for _, f := range a.Baseline {
		if !known[key{f.ID, f.Object, f.Field}] {
			baseline = append(baseline, f)
		}
	}
	return ids, baseline
}

// Known reports whether the catalogue has a rule with the ID.
func Known(id string) bool {
	_, ok := byID()[id]
	return ok
}

// acceptedBy reports whether the object accepts its findings with the ID by its annotation.
func acceptedBy(r *resource.Resource, id string) bool {
	for given := range strings.SplitSeq(r.Annotation(kruise.AcceptAnnotation), ",") {
		if strings.TrimSpace(given) == id {
			return true
		}
	}
	return false
}
