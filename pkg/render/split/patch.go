package split

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
	merged, err := kruise.PatchTemplate(whole, changes)
	if err != nil {
		return nil, tree.Errorf(patch, "", "the patch is a strategic merge patch of the pod template", "does not fit the pod template: %v", err)
	}
	out := tree.Sync(template, merged)
	if _, err := tree.Decode(out, &corev1.PodTemplateSpec{}); err != nil {
		return nil, tree.Errorf(patch, "", "", "makes no pod template: %v", err)
	}
	return out, nil
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
