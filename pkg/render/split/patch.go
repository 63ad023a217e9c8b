package split

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// patched returns the pod template with the subset's strategic merge patch
// applied (semantics fanout-and-jobs 1.2, point 9). What the patch leaves alone
// keeps its comments and order; template must not be used afterwards.
func patched(template, patch *tree.Node) (*tree.Node, error) {
	if patch == nil {
		return template, nil
	}
	changes, ok := tree.Value(patch).(map[string]any)
	if !ok {
		return nil, tree.Errorf(patch, "", "write metadata and spec as in a pod template", "a patch must be a mapping")
	}
	whole, _ := tree.Value(template).(map[string]any)
	merged, err := merge(whole, changes)
	if err != nil {
		return nil, tree.Errorf(patch, "", "the patch is a strategic merge patch of the pod template", "does not fit the pod template: %s", plain(err))
	}
	out := tree.Sync(template, merged)
	if _, err := tree.Decode(out, &corev1.PodTemplateSpec{}); err != nil {
		return nil, tree.Errorf(patch, "", "", "makes no pod template: %v", err)
	}
	return out, nil
}

// merge guards against the library, which panics on keys of lists that are no
// scalars.
func merge(whole, changes map[string]any) (merged map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("a list element has a key, such as name, that is neither text nor number")
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(whole, changes, corev1.PodTemplateSpec{})
}

// plain says what the library says without the objects that it prints, which
// nobody can read and which may hold what is nobody's business.
func plain(err error) string {
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

// compact is n as JSON on one line with sorted keys, "" for nil.
func compact(n *tree.Node, escape bool) string {
	if n == nil {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escape)
	if err := e.Encode(tree.Value(n)); err != nil {
		return "" // values of a tree always encode
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
