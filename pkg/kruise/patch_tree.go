package kruise

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// PatchTree returns the pod template with a subset's strategic merge patch
// applied (docs/kruise/distribution.md#what-a-subsets-workload-looks-like, point 9, and 2). What
// the patch leaves alone keeps its comments and order; template must not be used afterwards. A nil
// patch changes nothing. Errors stand at the patch.
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
