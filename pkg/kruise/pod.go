package kruise

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

// ActivePod reports whether a pod has neither ended nor is about to go. One without a
// status, as in a manifest, is taken to run.
func ActivePod(pod *tree.Node) bool {
	phase := tree.StrAt(pod, "status", "phase")
	return phase != "Succeeded" && phase != "Failed" && tree.Get(pod, "metadata", "deletionTimestamp") == nil
}
