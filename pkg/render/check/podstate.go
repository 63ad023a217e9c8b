package check

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// A pod that is named without a status, as in a file that somebody wrote, is
// taken to run and to be ready.

// sidecarsEnded reports a pod that Kruise's SidecarTerminator has declared ended,
// though some of its sidecars still run.
func sidecarsEnded(pod *tree.Node) bool {
	c, _ := tree.Find(tree.Get(pod, "status", "conditions"), "type", kruise.SidecarTerminated)
	return c != nil
}

// startedPod reports a pod that has a node.
func startedPod(pod *tree.Node) bool {
	return tree.StrAt(pod, "status", "phase") != "Pending" || tree.StrAt(pod, "spec", "nodeName") != ""
}

// startingPod reports a pod on whose node no container runs yet.
func startingPod(pod *tree.Node) bool {
	return tree.StrAt(pod, "status", "phase") == "Pending" && startedPod(pod)
}

// readyPod reports a pod that counts as available for a budget
// (docs/kruise/protection.md#podunavailablebudget).
func readyPod(pod *tree.Node) bool {
	phase := tree.StrAt(pod, "status", "phase")
	if !kruise.ActivePod(pod) || phase != "" && phase != "Running" {
		return false
	}
	for key := range tree.Strings(tree.Get(pod, "metadata", "labels")) {
		if strings.HasPrefix(key, kruise.UnavailablePodLabelPrefix) {
			return false
		}
	}
	conditions := tree.Get(pod, "status", "conditions")
	ready, _ := tree.Find(conditions, "type", "Ready")
	return conditions == nil || tree.StrAt(ready, "status") == "True"
}
