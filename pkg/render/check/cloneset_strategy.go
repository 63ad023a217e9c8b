package check

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const rolling = "spec.updateStrategy.rollingUpdate."

// strategy holds the rules for spec.updateStrategy
// (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#observed-on-a-cluster).
func (k *cloneSetCheck) strategy() {
	u := k.spec.UpdateStrategy
	switch u.Type {
	case "", kruise.RollingUpdateCloneSetStrategyType:
	case kruise.OnDeleteCloneSetStrategyType:
		k.onDelete()
		return
	default:
		k.fault("spec.updateStrategy.type", "", "%q is not allowed: want RollingUpdate or OnDelete", u.Type)
	}
	if u.RollingUpdate == nil {
		return
	}
	k.policy(u.RollingUpdate.PodUpdatePolicy)
	k.partition(u.RollingUpdate)
	k.budget(u.RollingUpdate)
	k.priority(rolling+"priorityStrategy", u.RollingUpdate.PriorityStrategy)
	k.scatter(u.RollingUpdate.ScatterStrategy)
}

// scatter: each label once. Kruise asks of CloneSets what it asks of SidecarSets
// (docs/kruise/sidecarset.md#what-is-refused).
func (k *cloneSetCheck) scatter(terms []kruise.UpdateScatterTerm) {
	seen := map[kruise.UpdateScatterTerm]bool{}
	for i, term := range terms {
		at := fmt.Sprintf("%sscatterStrategy[%d]", rolling, i)
		switch {
		case term.Key == "":
			k.fault(at+".key", "", "a key is required")
		case seen[term]:
			k.fault(at, "", "%s=%s is there twice", term.Key, term.Value)
		}
		seen[term] = true
	}
}

// onDelete: v1alpha1 never takes it; v1beta1 looks at maxUnavailable of a
// rollingUpdate that nobody reads.
func (k *cloneSetCheck) onDelete() {
	r := k.spec.UpdateStrategy.RollingUpdate
	switch {
	case k.alpha:
		k.fault("spec.updateStrategy.type", "write the object as apps.kruise.io/v1beta1", "OnDelete is refused in v1alpha1: want ReCreate, InPlaceIfPossible or InPlaceOnly")
	case r != nil && r.MaxUnavailable == nil:
		k.fault(rolling+"maxUnavailable", "remove rollingUpdate, which OnDelete does not use", "a rollingUpdate without maxUnavailable is refused beside OnDelete")
	}
}

func (k *cloneSetCheck) policy(policy kruise.CloneSetPodUpdateStrategyType) {
	switch policy {
	case "", kruise.RecreateCloneSetPodUpdateStrategyType, kruise.InPlaceIfPossibleCloneSetPodUpdateStrategyType, kruise.InPlaceOnlyCloneSetPodUpdateStrategyType:
	default:
		k.fault(rolling+"podUpdatePolicy", "", "%q is not allowed: want ReCreate, InPlaceIfPossible or InPlaceOnly", policy)
	}
}

var negativePercentage = regexp.MustCompile(`^-[0-9]+%$`)

var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// amount: an integer that is not negative, or a percentage, fractional ones
// included; it returns whether it is one.
func (k *cloneSetCheck) amount(path string, v intstr.IntOrString) bool {
	switch {
	case v.Type == intstr.String && negativePercentage.MatchString(v.StrVal):
		k.accepted(func() { k.fault(path, "", "%q is neither a number nor a percentage", v.StrVal) })
		return false
	case v.Type == intstr.String && !percentage.MatchString(v.StrVal):
		k.fault(path, "", "%q is neither a number nor a percentage", v.StrVal)
		return false
	case v.Type == intstr.Int && v.IntVal < 0:
		k.fault(path, "", "%d must not be negative", v.IntVal)
		return false
	}
	return true
}

// lax is amount of a field in which Kruise takes a number below 0.
func (k *cloneSetCheck) lax(path string, v intstr.IntOrString) (ok bool) {
	if v.Type == intstr.String || v.IntVal >= 0 {
		return k.amount(path, v)
	}
	k.accepted(func() { ok = k.amount(path, v) })
	return ok
}

func (k *cloneSetCheck) partition(r *kruise.RollingUpdateCloneSetStrategy) {
	if r.Partition != nil {
		k.amount(rolling+"partition", *r.Partition)
	}
}

// budget: something must be able to move. v1beta1 refuses an integer 0 for
// maxUnavailable even beside maxSurge, v1alpha1 does not.
func (k *cloneSetCheck) budget(r *kruise.RollingUpdateCloneSetStrategy) {
	surge, unavailable := intstr.FromInt32(0), intstr.FromString("20%")
	if r.MaxSurge != nil {
		surge = *r.MaxSurge
	}
	if r.MaxUnavailable != nil {
		unavailable = *r.MaxUnavailable
	}
	surgeOK, unavailableOK := k.lax(rolling+"maxSurge", surge), k.lax(rolling+"maxUnavailable", unavailable)
	if !surgeOK || !unavailableOK {
		return
	}
	if !nothing(surge) && r.PodUpdatePolicy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType {
		k.fault(rolling+"maxSurge", "set maxSurge to 0", "pods that are only updated in place cannot surge")
	}
	if k.spec.Replicas != nil && *k.spec.Replicas <= 0 {
		return
	}
	switch {
	case nothing(unavailable) && nothing(surge):
		k.fault(rolling+"maxUnavailable", "set one of them to 1 or more", "maxUnavailable and maxSurge may not both be 0")
	case !k.alpha && unavailable == intstr.FromInt32(0):
		k.fault(rolling+"maxUnavailable", "set it to 1, or write the object as apps.kruise.io/v1alpha1", "v1beta1 refuses 0 even beside maxSurge")
	}
}

var zeroPercent = regexp.MustCompile(`^0+(\.0+)?%$`)

// nothing reports whether v is zero however many replicas there are.
func nothing(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal == 0
	}
	return zeroPercent.MatchString(v.StrVal)
}
