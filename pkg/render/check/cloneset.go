package check

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindCloneSet, object: kruise.CloneSet{}, filled: true,
	open:      []string{"spec.template", "spec.volumeClaimTemplates"},
	check:     cloneSet,
	misplaced: cloneSetMisplaced,
})

// cloneSetCheck gathers the faults of one CloneSet. The rules differ by the
// version that the object is written in (docs/kruise/workloads.md#cloneset-in-two-versions).
type cloneSetCheck struct {
	*subject
	alpha bool
	spec  *kruise.CloneSetSpec
}

// cloneSet holds the rules of the CloneSet webhooks and schema
// (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/workloads.md#percentages-and-defaults, docs/kruise/workloads.md#named-pods-and-claims
// and docs/kruise/workloads.md#observed-on-a-cluster).
func cloneSet(s *subject) {
	var set kruise.CloneSet
	if !s.read(&set) {
		return
	}
	k := &cloneSetCheck{subject: s, alpha: s.r.Version() == kruise.V1alpha1, spec: &set.Spec}
	if tree.Get(s.r.Node(), "spec", "template") == nil {
		k.fault("spec.template", "", "a pod template is required")
	}
	selectorOfTemplate(k.subject, k.spec.Selector, k.spec.Template.Labels)
	k.numbers()
	k.podsToDelete()
	k.strategy()
	claimTemplates(s, k.spec.VolumeClaimTemplates)
	checkLongRunning(s, s.kind.kind, "spec.template", &k.spec.Template.Spec)
	checkPodTemplate(s, "spec.template", &k.spec.Template, k.spec.VolumeClaimTemplates)
	k.change()
}

// cloneSetMisplaced hints at a field of the other version.
func cloneSetMisplaced(version, path string) string {
	field, ok := strings.CutPrefix(path, "spec.updateStrategy.")
	alpha := version == kruise.V1alpha1
	switch {
	case !ok:
	case alpha && strings.HasPrefix(field, "rollingUpdate"):
		return "in v1alpha1 the fields of rollingUpdate are in spec.updateStrategy itself"
	case alpha:
		return spelling(kruise.CloneSet{}, rolling+field)
	case alphaStrategy[field]:
		return "in v1beta1 this is " + rolling + field
	}
	return ""
}

// alphaStrategy are the fields that v1alpha1 has one level higher.
var alphaStrategy = map[string]bool{
	"partition": true, "maxUnavailable": true, "maxSurge": true, "paused": true,
	"priorityStrategy": true, "scatterStrategy": true, "inPlaceUpdateStrategy": true,
}

func (k *cloneSetCheck) numbers() {
	notNegative(k.subject, "spec.replicas", k.spec.Replicas)
	k.accepted(func() {
		notNegative(k.subject, "spec.revisionHistoryLimit", k.spec.RevisionHistoryLimit)
		notNegative(k.subject, "spec.minReadySeconds", &k.spec.MinReadySeconds)
	})
	// v1beta1 takes any deadline.
	if deadline := k.spec.ProgressDeadlineSeconds; k.alpha && deadline != nil && *deadline <= k.spec.MinReadySeconds {
		k.fault("spec.progressDeadlineSeconds", "", "%d must be greater than minReadySeconds %d", *deadline, k.spec.MinReadySeconds)
	}
}

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
		switch r := u.RollingUpdate; {
		case k.alpha:
			k.fault("spec.updateStrategy.type", "write the object as apps.kruise.io/v1beta1", "OnDelete is refused in v1alpha1: want ReCreate, InPlaceIfPossible or InPlaceOnly")
		case r != nil && r.MaxUnavailable == nil: // which the controller does not read
			k.fault(rolling+"maxUnavailable", "remove rollingUpdate, which OnDelete does not use", "a rollingUpdate without maxUnavailable is refused beside OnDelete")
		}
		return
	default:
		k.fault("spec.updateStrategy.type", "", "%q is not allowed: want RollingUpdate or OnDelete", u.Type)
	}
	if u.RollingUpdate == nil {
		return
	}
	r := u.RollingUpdate
	policies := []kruise.CloneSetPodUpdateStrategyType{kruise.RecreateCloneSetPodUpdateStrategyType, kruise.InPlaceIfPossibleCloneSetPodUpdateStrategyType, kruise.InPlaceOnlyCloneSetPodUpdateStrategyType}
	oneOf(k.subject, rolling+"podUpdatePolicy", r.PodUpdatePolicy, policies...)
	if r.Partition != nil {
		k.amount(rolling+"partition", *r.Partition)
	}
	k.budget(r)
	updatePriority(k.subject, rolling+"priorityStrategy", r.PriorityStrategy)
	scatterTerms(k.subject, rolling+"scatterStrategy", r.ScatterStrategy)
}

var negativePercentage = regexp.MustCompile(`^-[0-9]+%$`)

var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// amount wants an integer that is not negative, or a percentage, which may be fractional. It
// returns whether the value is one.
func (k *cloneSetCheck) amount(path string, v intstr.IntOrString) bool {
	switch {
	case k.c.Kruise.OrNewest().Before(kruise.Minor(9)) && v.Type == intstr.String && path != rolling+"partition":
		// Up to 1.8 any whole number is one, with the sign or without.
		_, err := strconv.Atoi(strings.ReplaceAll(v.StrVal, "%", ""))
		switch {
		case err != nil:
			k.fault(path, "", "%q is neither a number nor a percentage", v.StrVal)
			return false
		case !strings.HasSuffix(v.StrVal, "%"):
			k.accepted(func() {
				k.fault(path, "write a number without quotes", "%q is neither a number nor a percentage", v.StrVal)
			})
			return false
		}
		return true
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

// amountOrNegative is amount for a field in which Kruise accepts negative numbers.
func (k *cloneSetCheck) amountOrNegative(path string, v intstr.IntOrString) (ok bool) {
	if v.Type == intstr.String || v.IntVal >= 0 {
		return k.amount(path, v)
	}
	k.accepted(func() { ok = k.amount(path, v) })
	return ok
}

// budget wants an update to be able to progress. v1beta1 refuses an integer 0 for
// maxUnavailable even with a maxSurge; v1alpha1 accepts it.
func (k *cloneSetCheck) budget(r *kruise.RollingUpdateCloneSetStrategy) {
	surge, unavailable := intstr.FromInt32(0), intstr.FromString("20%")
	if r.MaxSurge != nil {
		surge = *r.MaxSurge
	}
	if r.MaxUnavailable != nil {
		unavailable = *r.MaxUnavailable
	}
	surgeOK, unavailableOK := k.amountOrNegative(rolling+"maxSurge", surge), k.amountOrNegative(rolling+"maxUnavailable", unavailable)
	if !surgeOK || !unavailableOK {
		return
	}
	if !isAlwaysZero(surge) && r.PodUpdatePolicy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType {
		k.fault(rolling+"maxSurge", "set maxSurge to 0", "pods that are only updated in place cannot surge")
	}
	if k.spec.Replicas != nil && *k.spec.Replicas <= 0 {
		return
	}
	switch {
	case isAlwaysZero(unavailable) && isAlwaysZero(surge):
		k.fault(rolling+"maxUnavailable", "set one of them to 1 or more", "maxUnavailable and maxSurge may not both be 0")
	case !k.alpha && unavailable == intstr.FromInt32(0):
		k.fault(rolling+"maxUnavailable", "set it to 1, or write the object as apps.kruise.io/v1alpha1", "v1beta1 refuses 0 even beside maxSurge")
	}
}

var zeroPercent = regexp.MustCompile(`^0+(\.0+)?%$`)

// isAlwaysZero reports whether v is zero however many replicas there are.
func isAlwaysZero(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal == 0
	}
	return zeroPercent.MatchString(v.StrVal)
}

const podsToDelete = "spec.scaleStrategy.podsToDelete"

// podsToDelete wants each pod once, and in v1alpha1 only pods that exist
// (docs/kruise/workloads.md#named-pods-and-claims).
func (k *cloneSetCheck) podsToDelete() {
	seen := map[string]bool{}
	for i, name := range k.spec.ScaleStrategy.PodsToDelete {
		path := fmt.Sprintf("%s[%d]", podsToDelete, i)
		switch {
		case seen[name]:
			k.fault(path, "", "pod %s is named twice", name)
		case k.alpha && len(validation.IsDNS1123Subdomain(name)) > 0:
			k.fault(path, "", "%q is not the name of a pod", name)
		case k.alpha && k.Known && !k.wasListedBefore(name) && !k.isOwnPod(name):
			k.fault(path, "name the pods by --with or --live", "pod %s is not a live pod of the CloneSet", name)
		}
		seen[name] = true
	}
	if m := k.spec.ScaleStrategy.MaxUnavailable; m != nil {
		k.accepted(func() { k.amount("spec.scaleStrategy.maxUnavailable", *m) })
	}
}

// wasListedBefore reports a pod that was named before the update.
func (k *cloneSetCheck) wasListedBefore(name string) bool {
	var old kruise.CloneSet
	return k.decodeOld(&old) && slices.Contains(old.Spec.ScaleStrategy.PodsToDelete, name)
}

// isOwnPod reports a live pod of the CloneSet.
func (k *cloneSetCheck) isOwnPod(name string) bool {
	pod := k.findInNamespace("", "Pod", name)
	if pod == nil || !kruise.ActivePod(pod.Node()) {
		return false
	}
	owner := controllerOf(pod)
	return tree.StrAt(owner, "kind") == k.kind.kind && tree.StrAt(owner, "name") == k.r.Name()
}

// change has the rules for an update: the selector is immutable, and in v1alpha1
// InPlaceOnly may change only images and metadata (docs/kruise/workloads.md#cloneset-in-two-versions
// and docs/kruise/workloads.md#when-it-is-impossible).
func (k *cloneSetCheck) change() {
	var old kruise.CloneSet
	if !k.decodeOld(&old) {
		return
	}
	if r := k.spec.UpdateStrategy.RollingUpdate; k.alpha && r != nil && r.PodUpdatePolicy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType {
		now := kruise.CloneSet{Spec: *k.spec}
		kruise.DefaultStored(&now)
		onlyImagesChange(k.subject, old.Spec.Template.Spec, now.Spec.Template.Spec)
	}
	immutableFields(k.subject, fieldChange{"spec.selector", old.Spec.Selector, k.spec.Selector})
}
