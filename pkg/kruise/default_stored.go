package kruise

import corev1 "k8s.io/api/core/v1"

// defaultCronTemplates: the jobs get their own defaults when they are made; of
// the templates, those of pods are filled in (semantics fanout-and-jobs 6).
func defaultCronTemplates(t *CronJobTemplate) {
	if t.JobTemplate != nil {
		DefaultTemplate(&t.JobTemplate.Spec.Template)
	}
	if t.BroadcastJobTemplate != nil {
		DefaultTemplate(&t.BroadcastJobTemplate.Spec.Template)
	}
}

// defaultSubsetTemplate: only the template of a native StatefulSet is touched
// (semantics fanout-and-jobs 12).
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
