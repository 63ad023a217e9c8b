package kruise

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// PatchTemplate returns the pod template with the strategic merge patch applied,
// both as values of JSON (docs/kruise/distribution.md#what-a-subsets-workload-looks-like and
// docs/kruise/distribution.md#workloadspread). A patch that does not fit is an error, whose text
// holds no values.
func PatchTemplate(template, patch map[string]any) (merged map[string]any, err error) {
	defer func() { // the library panics on keys of lists that are no scalars
		if p := recover(); p != nil {
			err = errors.New("a list element has a key, such as name, that is neither text nor number")
		}
	}()
	merged, err = strategicpatch.StrategicMergeMapPatch(template, patch, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, errors.New(plainly(err))
	}
	return merged, nil
}

// plainly returns the library's message without the objects that it prints, which are hard to read
// and may have secrets.
func plainly(err error) string {
	msg := err.Error()
	if _, key, ok := strings.Cut(msg, "does not contain declared merge key: "); ok {
		return "a list element has no " + key + ", by which elements are matched"
	}
	if strings.Contains(msg, "list element types are not identical") {
		return "elements of a list are of another type than those of the pod template"
	}
	head, _, _ := strings.Cut(msg, ": map[")
	return head
}

// PatchTree returns the pod template with a subset's strategic merge patch
// applied (docs/kruise/distribution.md#what-a-subsets-workload-looks-like, point 9, and 2). What
// the patch leaves alone keeps its comments and order; template must not be used afterwards. A nil
// patch changes nothing. Errors name the place of the patch.
func PatchTree(template, patch *tree.Node) (*tree.Node, error) {
	if patch == nil {
		return template, nil
	}
	changes, ok := tree.Value(patch).(map[string]any)
	if !ok {
		return nil, tree.Errorf(patch, "", "write metadata and spec as in a pod template", "a patch must be a mapping")
	}
	whole, _ := tree.Value(template).(map[string]any)
	merged, err := PatchTemplate(whole, changes)
	if err != nil {
		return nil, tree.Errorf(patch, "", "the patch is a strategic merge patch of the pod template", "does not fit the pod template: %v", err)
	}
	out := tree.Sync(template, merged)
	if _, err := tree.Decode(out, &corev1.PodTemplateSpec{}); err != nil {
		return nil, tree.Errorf(patch, "", "", "makes no pod template: %v", err)
	}
	return out, nil
}
