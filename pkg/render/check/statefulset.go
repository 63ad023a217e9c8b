package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindStatefulSet, object: kruise.StatefulSet{}, filled: true,
	open:  []string{"spec.template", "spec.volumeClaimTemplates"},
	check: statefulSet,
})

// statefulSetCheck gathers the faults of one Advanced StatefulSet.
type statefulSetCheck struct {
	*subject
	spec *kruise.StatefulSetSpec
}

// statefulSet holds the rules of the webhook (docs/kruise/workloads.md#advanced-statefulset), which
// also stop the workloads of a UnitedDeployment from being made.
func statefulSet(s *subject) {
	var set kruise.StatefulSet
	if !s.read(&set) {
		return
	}
	k := &statefulSetCheck{subject: s, spec: &set.Spec}
	if name := s.r.Name(); name != "" && len(validation.IsDNS1123Subdomain(name)) == 0 {
		for _, msg := range validation.IsDNS1123Label(name) { // pods and their labels have it
			s.faultUnder(nameInvalid, "metadata.name", "", "%q is not a name of a StatefulSet: %s", name, msg)
		}
	}
	selectorOfTemplate(k.subject, k.spec.Selector, k.spec.Template.Labels)
	notNegative(s, "spec.replicas", k.spec.Replicas)
	notNegative(s, "spec.revisionHistoryLimit", k.spec.RevisionHistoryLimit)
	if o := k.spec.Ordinals; o != nil {
		k.accepted(func() { notNegative(s, "spec.ordinals.start", &o.Start) })
	}
	oneOf(s, "spec.podManagementPolicy", k.spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)
	if c := k.spec.ScaleStrategy; c != nil {
		k.maxUnavailable("spec.scaleStrategy.maxUnavailable", c.MaxUnavailable)
	}
	k.strategy()
	k.reserveOrdinals()
	k.claimRules()
	checkLongRunning(s, s.kind.kind, "spec.template", &k.spec.Template.Spec)
	// The webhook looks at little of the template; the pods of a bad one are refused.
	checkPodMetadata("spec.template", &k.spec.Template, s.podFault)
	s.accepted(func() {
		refused, inPods := podErrors("spec.template", &k.spec.Template, k.spec.VolumeClaimTemplates)
		s.podErrors(s.podFault, only(append(refused, inPods...), map[string]string{"spec.template.spec": "spec.template.spec", "spec.volumeClaimTemplates": "spec.volumeClaimTemplates"}, isGiven))
		negativeGrace(s, "spec.template", &k.spec.Template.Spec)
	})
	k.change()
}

func (k *statefulSetCheck) parallel() bool {
	return k.spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (k *statefulSetCheck) strategy() {
	u := k.spec.UpdateStrategy
	r := u.RollingUpdate
	oneOf(k.subject, "spec.updateStrategy.type", u.Type, appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
	if u.Type == appsv1.OnDeleteStatefulSetStrategyType {
		if r != nil {
			k.fault("spec.updateStrategy.rollingUpdate", "remove it", "OnDelete allows no rollingUpdate")
		}
		return
	}
	if r == nil {
		return
	}
	notNegative(k.subject, rolling+"partition", r.Partition)
	if m := r.MinReadySeconds; m != nil && (*m < 0 || *m > 300) {
		k.fault(rolling+"minReadySeconds", "", "%d is not between 0 and 300", *m)
	}
	k.maxUnavailable(rolling+"maxUnavailable", r.MaxUnavailable)
	k.policy(r.PodUpdatePolicy)
	if r.UnorderedUpdate == nil {
		return
	}
	if !k.parallel() {
		k.fault(rolling+"unorderedUpdate", "set podManagementPolicy: Parallel", "only allowed with podManagementPolicy Parallel")
	}
	updatePriority(k.subject, rolling+"unorderedUpdate.priorityStrategy", r.UnorderedUpdate.PriorityStrategy)
}

// maxUnavailable wants 1 for an ordered StatefulSet, whose pods are replaced one at a time.
func (k *statefulSetCheck) maxUnavailable(path string, v *intstr.IntOrString) {
	switch {
	case v == nil || !numberOrPercent(k.subject, path, v):
	case isZero(v):
		k.fault(path, "set it to 1 or more", "with %s, no pod can be updated", v)
	case *v != intstr.FromInt32(1) && !k.parallel():
		k.fault(path, "set podManagementPolicy: Parallel", "%s is only allowed with podManagementPolicy Parallel", v)
	}
}

// policy wants the readiness gate for updates in place: Kruise does not inject it.
func (k *statefulSetCheck) policy(p kruise.PodUpdateStrategyType) {
	if !oneOf(k.subject, rolling+"podUpdatePolicy", p, kruise.RecreatePodUpdateStrategyType,
		kruise.InPlaceIfPossiblePodUpdateStrategyType, kruise.InPlaceOnlyPodUpdateStrategyType) ||
		p == "" || p == kruise.RecreatePodUpdateStrategyType {
		return
	}
	gated := slices.ContainsFunc(k.spec.Template.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
		return g.ConditionType == kruise.InPlaceUpdateReady
	})
	if !gated {
		k.fault("spec.template.spec.readinessGates", "add {conditionType: "+kruise.InPlaceUpdateReady+"}", "podUpdatePolicy %s needs the readiness gate %s", p, kruise.InPlaceUpdateReady)
	}
}

// reserveOrdinals wants numbers that are not negative, or ascending ranges.
func (k *statefulSetCheck) reserveOrdinals() {
	for i, v := range k.spec.ReserveOrdinals {
		path := fmt.Sprintf("spec.reserveOrdinals[%d]", i)
		switch {
		case v.Type == intstr.Int && v.IntVal < 0:
			k.fault(path, "", "%d is negative", v.IntVal)
		case v.Type == intstr.String && !isOrdinalRange(v.StrVal):
			k.fault(path, "write a number without quotes, or two as in 3-5", "%q is not a range of ordinals", v.StrVal)
		}
	}
}

// isOrdinalRange reports a range such as 3-5.
func isOrdinalRange(text string) bool {
	first, last, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(first, 10, 31)
	if err != nil {
		return false
	}
	to, err := strconv.ParseUint(last, 10, 31)
	return err == nil && from <= to
}

// claimRules has the rules for claims (docs/kruise/workloads.md#advanced-statefulset).
func (k *statefulSetCheck) claimRules() {
	claimTemplates(k.subject, k.spec.VolumeClaimTemplates)
	k.accepted(func() {
		oneOf(k.subject, "spec.volumeClaimUpdateStrategy.type", k.spec.VolumeClaimUpdateStrategy.Type,
			kruise.OnPVCDeleteVolumeClaimUpdateStrategyType, kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType)
	})
	p := k.spec.PersistentVolumeClaimRetentionPolicy
	if p == nil {
		return
	}
	const path = "spec.persistentVolumeClaimRetentionPolicy."
	retain, remove := appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	oneOf(k.subject, path+"whenDeleted", p.WhenDeleted, retain, remove)
	oneOf(k.subject, path+"whenScaled", p.WhenScaled, retain, remove)
}

// change holds the rules for an update (docs/kruise/workloads.md#when-it-is-impossible and
// docs/kruise/workloads.md#advanced-statefulset).
func (k *statefulSetCheck) change() {
	var old kruise.StatefulSet
	if !k.decodeOld(&old) {
		return
	}
	now := kruise.StatefulSet{Spec: *k.spec}
	kruise.DefaultStored(&now)
	if r := k.spec.UpdateStrategy.RollingUpdate; r != nil && r.PodUpdatePolicy == kruise.InPlaceOnlyPodUpdateStrategyType {
		onlyImagesChange(k.subject, old.Spec.Template.Spec, now.Spec.Template.Spec)
	}
	immutableFields(k.subject,
		fieldChange{"spec.selector", old.Spec.Selector, now.Spec.Selector},
		fieldChange{"spec.serviceName", old.Spec.ServiceName, now.Spec.ServiceName},
		fieldChange{"spec.podManagementPolicy", old.Spec.PodManagementPolicy, now.Spec.PodManagementPolicy},
	)
}
