package patches

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Metadata is the step that brings the labels and annotations of an object itself
// to what they shall be; nil where they do not change. No pod changes by it. It
// comes first: the rules that the client driver keeps are in an annotation.
func Metadata(t Target, old, updated *tree.Node) *Step {
	body := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if change := changes(tree.Strings(tree.Get(old, "metadata", field)), tree.Strings(tree.Get(updated, "metadata", field))); len(change) > 0 {
			body[field] = change
		}
	}
	if len(body) == 0 {
		return nil
	}
	return &Step{
		Name: "metadata", Title: "change labels and annotations of the object; no pod changes by it",
		Patch: &Patch{Target: t, Type: plan.PatchMerge, Body: map[string]any{"metadata": body}},
	}
}

// changes is the merge patch from one map to the other: a null removes.
func changes(old, updated map[string]string) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, stays := updated[key]; !stays && key != corev1.LastAppliedConfigAnnotation {
			out[key] = nil
		}
	}
	for key, value := range updated {
		if have, ok := old[key]; (!ok || have != value) && key != corev1.LastAppliedConfigAnnotation {
			out[key] = value
		}
	}
	return out
}
