package kruise

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultCronTemplates: the jobs get their own defaults when they are made; of
// the templates, those of pods are filled in (docs/kruise/jobs.md#advancedcronjob), and
// metadata goes where the schema declares none of its fields (12).
func defaultCronTemplates(t *CronJobTemplate) {
	if t.JobTemplate != nil {
		DefaultTemplate(&t.JobTemplate.Spec.Template)
	}
	if t.BroadcastJobTemplate != nil {
		DefaultTemplate(&t.BroadcastJobTemplate.Spec.Template)
		t.BroadcastJobTemplate.ObjectMeta = metav1.ObjectMeta{}
	}
	if t.ImageListPullJobTemplate != nil {
		t.ImageListPullJobTemplate.ObjectMeta = metav1.ObjectMeta{}
	}
}

// defaultSubsetTemplate: only the template of a native StatefulSet is touched
// (docs/kruise/distribution.md#observed-on-a-cluster).
func defaultSubsetTemplate(t *SubsetTemplate) {
	if t.StatefulSetTemplate != nil {
		DefaultTemplate(&t.StatefulSetTemplate.Spec.Template)
		defaultClaims(t.StatefulSetTemplate.Spec.VolumeClaimTemplates)
	}
}

// defaultClaims is what is filled into claim templates, their status included.
func defaultClaims(claims []corev1.PersistentVolumeClaim) {
	for i := range claims {
		setText(&claims[i].Status.Phase, corev1.ClaimPending)
	}
}
