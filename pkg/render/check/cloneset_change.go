package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// change holds the rules for an update: the selector stays, and v1alpha1 lets
// InPlaceOnly change images and metadata alone (docs/kruise/workloads.md#cloneset-in-two-versions
// and docs/kruise/workloads.md#when-it-is-impossible).
func (k *cloneSetCheck) change() {
	var old kruise.CloneSet
	if !k.before(&old) {
		return
	}
	if r := k.spec.UpdateStrategy.RollingUpdate; k.alpha && r != nil && r.PodUpdatePolicy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType {
		now := kruise.CloneSet{Spec: *k.spec}
		kruise.DefaultStored(&now)
		k.inPlaceOnly(old.Spec.Template.Spec, now.Spec.Template.Spec)
	}
	k.constant(unchanging{"spec.selector", old.Spec.Selector, k.spec.Selector})
}
