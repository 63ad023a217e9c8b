package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// status counts the pods that there were when the pass began; those that it has
// taken from the current revision are not there any more
// (docs/kruise/workloads.md#advanced-statefulset, Status).
func (s *statefulSet) status(update string) *kruise.StatefulSetStatus {
	n := countStateful(s.view.Pods, s.current, update, seconds(s.minReadySeconds()), s.view.Now)
	out := s.Status
	out.ObservedGeneration = s.view.Workload.Generation
	out.Replicas, out.ReadyReplicas, out.AvailableReplicas = n.replicas, n.ready, n.available
	out.CurrentReplicas, out.UpdatedReplicas = max(n.current-s.left, 0), n.updated
	out.UpdatedReadyReplicas, out.UpdatedAvailableReplicas = n.updatedReady, n.updatedAvailable
	out.CurrentRevision, out.UpdateRevision = s.current, update
	if s.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && n.complete() {
		out.CurrentReplicas, out.CurrentRevision = n.updated, update
	}
	if out.CollisionCount == nil {
		out.CollisionCount = new(int32)
	}
	out.LabelSelector = metav1.FormatLabelSelector(s.Spec.Selector)
	out.VolumeClaims = s.claimStatus()
	return &out
}

// moved is [changed] as the controller sees it: it does not look whether the counts that
// only v1beta1 has differ, so that those which a write as v1alpha1 drops stay away until
// something else changes (docs/kruise/versions.md).
func moved(old, now *kruise.StatefulSetStatus) any {
	seen := *now
	seen.UpdatedReadyReplicas, seen.UpdatedAvailableReplicas = old.UpdatedReadyReplicas, old.UpdatedAvailableReplicas
	if changed(old, &seen) == nil {
		return nil
	}
	return now
}

// claimStatus counts, per claim template, the claims of the ordinals that shall
// exist. Sizes are not looked at: claims are what their templates ask for.
func (s *statefulSet) claimStatus() []kruise.VolumeClaimStatus {
	if len(s.templates) == 0 {
		return nil
	}
	have := make(map[string]bool, len(s.view.Claims))
	for _, c := range s.view.Claims {
		have[c.Name] = !c.Deleting
	}
	out := make([]kruise.VolumeClaimStatus, len(s.templates))
	for i := range s.templates {
		out[i].VolumeClaimName = s.templates[i].Name
		for _, ordinal := range s.ordinals {
			if have[s.templates[i].Name+"-"+s.name(ordinal)] {
				out[i].CompatibleReplicas++
				out[i].CompatibleReadyReplicas++
			}
		}
	}
	return out
}
