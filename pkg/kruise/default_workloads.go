package kruise

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultCloneSet: docs/kruise/workloads.md#percentages-and-defaults. OnDelete gets no
// rollingUpdate.
func defaultCloneSet(s *CloneSetSpec) {
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	alwaysPull(&s.Template.Spec)
	setText(&s.UpdateStrategy.Type, RollingUpdateCloneSetStrategyType)
	if s.UpdateStrategy.Type != RollingUpdateCloneSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateCloneSetStrategy{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.PodUpdatePolicy, RecreateCloneSetPodUpdateStrategyType)
	setDefault(&r.Partition, intstr.FromInt32(0))
	setDefault(&r.MaxUnavailable, intstr.FromString("20%"))
	setDefault(&r.MaxSurge, intstr.FromInt32(0))
}

// defaultStatefulSet: docs/kruise/workloads.md#percentages-and-defaults.
func defaultStatefulSet(s *StatefulSetSpec) {
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&s.PersistentVolumeClaimRetentionPolicy, StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setText(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	alwaysPull(&s.Template.Spec)
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateStatefulSetStrategy{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.PodUpdatePolicy, RecreatePodUpdateStrategyType)
	setDefault(&r.Partition, 0)
	setDefault(&r.MaxUnavailable, intstr.FromInt32(1))
	setDefault(&r.MinReadySeconds, 0)
}

// defaultDaemonSet: docs/kruise/workloads.md#percentages-and-defaults. The template is left alone,
// and so are maxUnavailable and maxSurge when one of them is there.
func defaultDaemonSet(s *DaemonSetSpec) {
	setDefault(&s.RevisionHistoryLimit, 10)
	setDefault(&s.BurstReplicas, intstr.FromInt32(250))
	setText(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	setDefault(&s.UpdateStrategy.RollingUpdate, RollingUpdateDaemonSet{})
	r := s.UpdateStrategy.RollingUpdate
	setText(&r.RollingUpdateType, StandardRollingUpdateType)
	if r.MaxUnavailable == nil && r.MaxSurge == nil {
		setDefault(&r.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&r.MaxSurge, intstr.FromInt32(0))
	}
}
