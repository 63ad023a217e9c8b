package check

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const podsToDelete = "spec.scaleStrategy.podsToDelete"

// podsToDelete: each once, and in v1alpha1 pods that there are
// (docs/kruise/workloads.md#named-pods-and-claims).
func (k *cloneSetCheck) podsToDelete() {
	seen := map[string]bool{}
	for i, name := range k.spec.ScaleStrategy.PodsToDelete {
		path := fmt.Sprintf("%s[%d]", podsToDelete, i)
		switch {
		case seen[name]:
			k.fault(path, "", "pod %s is named twice", name)
		case k.alpha && k.Known && !k.had(name) && !k.owned(name):
			k.fault(path, "name the pods by --with or --live", "pod %s is not a live pod of the CloneSet", name)
		}
		seen[name] = true
	}
	if m := k.spec.ScaleStrategy.MaxUnavailable; m != nil {
		k.accepted(func() { k.amount("spec.scaleStrategy.maxUnavailable", *m) })
	}
}

// had reports a pod that was named before the update.
func (k *cloneSetCheck) had(name string) bool {
	var old kruise.CloneSet
	return k.before(&old) && slices.Contains(old.Spec.ScaleStrategy.PodsToDelete, name)
}

// owned reports a live pod of the CloneSet.
func (k *cloneSetCheck) owned(name string) bool {
	pod := k.find("", "Pod", name)
	if pod == nil || !kruise.ActivePod(pod.Node()) {
		return false
	}
	owner := k.controllerOf(pod)
	return tree.StrAt(owner, "kind") == k.kind.kind && tree.StrAt(owner, "name") == k.r.Name()
}
