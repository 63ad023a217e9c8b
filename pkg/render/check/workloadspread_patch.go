package check

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// patches tries each subset's patch on the pods of the target, where that is
// known (docs/kruise/sidecarset.md#observed-on-a-cluster).
func (k *spreadCheck) patches(ref *kruise.TargetReference) {
	var pods *tree.Node
	if target := k.find(resource.GroupOf(ref.APIVersion), ref.Kind, ref.Name); target != nil {
		pods = tree.Get(target.Node(), "spec")
	}
	for i, s := range k.spec.Subsets {
		path := fmt.Sprintf("%s[%d].patch", spreadSubsets, i)
		if len(s.Patch.Raw) == 0 {
			continue
		}
		var patch map[string]any
		if json.Unmarshal(s.Patch.Raw, &patch) != nil {
			k.fault(path, "write metadata and spec as in a pod template", "a patch must be a mapping")
		} else if tree.IsMap(tree.Get(pods, "template")) {
			k.patched(path, pods, patch)
		}
	}
}

// patched reports what the patch breaks that was whole before.
func (k *spreadCheck) patched(path string, spec *tree.Node, patch map[string]any) {
	template := tree.Get(spec, "template")
	claims := claimsOf(spec)
	known := map[string]bool{}
	for _, problem := range k.problems(template, claims) {
		known[indices(problem)] = true // a patch moves list elements
	}
	whole, _ := tree.Value(template).(map[string]any)
	merged, err := kruise.PatchTemplate(whole, patch)
	if err != nil {
		k.fault(path, "the patch is a strategic merge patch of the pod", "does not fit the pods of the target: %v", err)
		return
	}
	for _, problem := range k.problems(tree.FromValue(merged), claims) {
		if !known[indices(problem)] {
			k.fault(path, "", "makes a pod that is refused: %s", problem)
		}
	}
}

// problems are the faults of a pod template as text, with their paths.
func (k *spreadCheck) problems(n *tree.Node, claims []corev1.PersistentVolumeClaim) (list []string) {
	var t corev1.PodTemplateSpec
	if _, err := tree.Decode(n, &t); err != nil {
		return []string{err.Error()}
	}
	collect := func(path, _, format string, args ...any) {
		list = append(list, path+": "+fmt.Sprintf(format, args...))
	}
	checkPodMetadata("pod", &t, collect)
	checkPodSpec(k.podReporter(collect), "pod.spec", &t.Spec, claims)
	return list
}

// claimsOf are the claim templates of a workload, as far as they can be read.
func claimsOf(spec *tree.Node) []corev1.PersistentVolumeClaim {
	var claims []corev1.PersistentVolumeClaim
	if list := tree.Get(spec, "volumeClaimTemplates"); list == nil {
		return nil
	} else if _, err := tree.Decode(list, &claims); err != nil {
		return nil
	}
	return claims
}
