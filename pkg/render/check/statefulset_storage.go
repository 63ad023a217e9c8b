package check

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// storage holds the rules for claims (docs/kruise/workloads.md#advanced-statefulset).
func (k *statefulSetCheck) storage() {
	k.claims(k.spec.VolumeClaimTemplates)
	oneOf(k.subject, "spec.volumeClaimUpdateStrategy.type", k.spec.VolumeClaimUpdateStrategy.Type,
		kruise.OnPVCDeleteVolumeClaimUpdateStrategyType, kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType)
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
	if !k.before(&old) {
		return
	}
	now := kruise.StatefulSet{Spec: *k.spec}
	kruise.DefaultStored(&now)
	if r := k.spec.UpdateStrategy.RollingUpdate; r != nil && r.PodUpdatePolicy == kruise.InPlaceOnlyPodUpdateStrategyType {
		k.inPlaceOnly(old.Spec.Template.Spec, now.Spec.Template.Spec)
	}
	k.constant(
		unchanging{"spec.selector", old.Spec.Selector, now.Spec.Selector},
		unchanging{"spec.serviceName", old.Spec.ServiceName, now.Spec.ServiceName},
		unchanging{"spec.podManagementPolicy", old.Spec.PodManagementPolicy, now.Spec.PodManagementPolicy},
	)
}
