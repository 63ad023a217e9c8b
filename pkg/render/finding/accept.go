package finding

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
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

// Annotated are the findings that objects accept by their annotation, in order.
func Annotated(list []*resource.Resource) (out []Finding) {
	for _, r := range list {
		for _, id := range annotated(r) {
			f := Finding{ID: id, Object: r.ID(), Field: "metadata.annotations[" + kruise.AcceptAnnotation + "]", seq: r.Origin.Seq}
			f.File, f.Line = r.Origin.At(tree.LineOf(r.Node(), f.Field))
			out = append(out, f)
		}
	}
	return out
}

// Stale are those of the findings that annotations accept which were not found: neither of the
// object, nor of what was made of it.
func Stale(annotated, found []Finding) []Finding {
	type entry struct {
		id  string
		seq int
	}
	known := map[entry]bool{}
	for _, f := range found {
		known[entry{f.ID, f.seq}] = true
	}
	return slices.DeleteFunc(slices.Clone(annotated), func(f Finding) bool { return known[entry{f.ID, f.seq}] })
}

// annotated are the IDs of the object's annotation.
func annotated(r *resource.Resource) []string {
	return strings.FieldsFunc(r.Annotation(kruise.AcceptAnnotation), func(c rune) bool { return c == ',' || unicode.IsSpace(c) })
}

// acceptedBy reports whether the object accepts its findings with the ID by its annotation.
func acceptedBy(r *resource.Resource, id string) bool { return slices.Contains(annotated(r), id) }
