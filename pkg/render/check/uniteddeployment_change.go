package check

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// change holds the rules for an update (docs/kruise/distribution.md#spec).
func (k *unitedDeploymentCheck) change() {
	if k.Old == nil {
		return
	}
	var old kruise.UnitedDeploymentSpec // the same in both versions
	if _, err := tree.Decode(tree.Get(k.Old.Node(), "spec"), &old); err != nil {
		return // it is the cluster's object, not the user's to repair
	}
	k.sameNodes(old.Topology.Subsets)
	k.sameTemplate(old.Template)
}

// sameNodes: a subset that exists stays where it is.
func (k *unitedDeploymentCheck) sameNodes(old []kruise.Subset) {
	const hint = "declare a subset of another name, and remove this one"
	before := map[string]kruise.Subset{}
	for _, s := range old {
		before[s.Name] = s
	}
	for i, s := range k.spec.Topology.Subsets {
		was, existed := before[s.Name]
		if !existed {
			continue
		}
		at := fmt.Sprintf("%s[%d].", subsetsField, i)
		if !apiequality.Semantic.DeepEqual(was.NodeSelectorTerm, s.NodeSelectorTerm) {
			k.frozen(at+"nodeSelectorTerm", hint, "the nodes of subset %s, which exists, cannot change", s.Name)
		}
		if !apiequality.Semantic.DeepEqual(was.Tolerations, s.Tolerations) {
			k.frozen(at+"tolerations", hint, "the tolerations of subset %s, which exists, cannot change", s.Name)
		}
	}
}

// sameTemplate: a StatefulSet's spec hardly changes.
func (k *unitedDeploymentCheck) sameTemplate(old kruise.SubsetTemplate) {
	const hint = "keep it as it is in the cluster, or delete and create the UnitedDeployment"
	now := k.spec.Template
	if a, b := old.StatefulSetTemplate, now.StatefulSetTemplate; a != nil && b != nil &&
		!apiequality.Semantic.DeepEqual(frozenStatefulSet(a.Spec), frozenStatefulSet(b.Spec)) {
		k.frozen("spec.template.statefulSetTemplate.spec", hint, "only template, updateStrategy, minReadySeconds, ordinals and persistentVolumeClaimRetentionPolicy can change")
	}
	if a, b := old.AdvancedStatefulSetTemplate, now.AdvancedStatefulSetTemplate; a != nil && b != nil &&
		!apiequality.Semantic.DeepEqual(frozenAdvanced(a.Spec), frozenAdvanced(b.Spec)) {
		k.frozen("spec.template.advancedStatefulSetTemplate.spec", hint, "only template and updateStrategy can change")
	}
}

// frozenStatefulSet is s without what may change.
func frozenStatefulSet(s appsv1.StatefulSetSpec) appsv1.StatefulSetSpec {
	s.Template, s.UpdateStrategy = corev1.PodTemplateSpec{}, appsv1.StatefulSetUpdateStrategy{}
	s.MinReadySeconds, s.Ordinals, s.PersistentVolumeClaimRetentionPolicy = 0, nil, nil
	s.VolumeClaimTemplates = asStored(s.VolumeClaimTemplates)
	return s
}

func frozenAdvanced(s kruise.StatefulSetSpec) kruise.StatefulSetSpec {
	s.Template, s.UpdateStrategy = corev1.PodTemplateSpec{}, kruise.StatefulSetUpdateStrategy{}
	s.VolumeClaimTemplates = asStored(s.VolumeClaimTemplates)
	return s
}

// asStored fills the claim templates as the API server does, so that what it
// filled in is no change of the user's.
func asStored(claims []corev1.PersistentVolumeClaim) []corev1.PersistentVolumeClaim {
	out := make([]corev1.PersistentVolumeClaim, len(claims))
	for i, c := range claims {
		c.TypeMeta, c.Status = metav1.TypeMeta{}, corev1.PersistentVolumeClaimStatus{}
		if c.Spec.VolumeMode == nil {
			c.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
		}
		out[i] = c
	}
	return out
}
