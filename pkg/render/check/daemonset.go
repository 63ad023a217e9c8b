package check

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindDaemonSet, object: kruise.DaemonSet{}, filled: true,
	open:  []string{"spec.template"},
	check: daemonSet,
})

// daemonSet holds the rules of the webhook (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-daemonset).
func daemonSet(s *subject) {
	var set kruise.DaemonSet
	if !s.read(&set) {
		return
	}
	spec := &set.Spec
	selectorOfTemplate(s, spec.Selector, spec.Template.Labels)
	notNegative(s, "spec.minReadySeconds", &spec.MinReadySeconds)
	notNegative(s, "spec.revisionHistoryLimit", spec.RevisionHistoryLimit)
	oneOf(s, "spec.updateStrategy.type", spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType)
	if spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		daemonSetRollingUpdate(s, spec.UpdateStrategy.RollingUpdate)
	}
	if l := spec.Lifecycle; l != nil && l.InPlaceUpdate != nil {
		s.fault("spec.lifecycle.inPlaceUpdate", "remove it", "a DaemonSet does not support this hook")
	}
	checkLongRunning(s, s.kind.kind, "spec.template", &spec.Template.Spec)
	checkPodTemplate(s, "spec.template", &spec.Template, nil)
	var old kruise.DaemonSet
	if s.decodeOld(&old) {
		immutableFields(s, fieldChange{"spec.selector", old.Spec.Selector, spec.Selector})
	}
}

// daemonSetRollingUpdate wants either maxSurge or maxUnavailable, and not both to be 0.
func daemonSetRollingUpdate(s *subject, r *kruise.RollingUpdateDaemonSet) {
	if r == nil {
		return
	}
	oneOf(s, rolling+"rollingUpdateType", r.RollingUpdateType, kruise.StandardRollingUpdateType, kruise.InPlaceIfPossibleRollingUpdateType)
	numberOrPartOfWhole(s, rolling+"partition", r.Partition)
	if r.Selector != nil {
		s.accepted(func() { validSelector(s, rolling+"selector", r.Selector) })
	}
	unavailable, surge := numberOrPartOfWhole(s, rolling+"maxUnavailable", r.MaxUnavailable), numberOrPartOfWhole(s, rolling+"maxSurge", r.MaxSurge)
	if !unavailable || !surge || r.MaxUnavailable == nil && r.MaxSurge == nil {
		return // malformed, or the defaults
	}
	switch {
	case isZero(r.MaxUnavailable) && isZero(r.MaxSurge):
		s.fault(rolling+"maxUnavailable", "set one of them to 1 or more", "maxUnavailable and maxSurge may not both be 0")
	case !isZero(r.MaxUnavailable) && !isZero(r.MaxSurge):
		s.fault(rolling+"maxSurge", "set one of them to 0", "maxUnavailable and maxSurge are mutually exclusive")
	case !isZero(r.MaxSurge) && r.RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType:
		s.fault(rolling+"maxSurge", "set maxSurge to 0", "pods that are updated in place cannot surge")
	}
}
