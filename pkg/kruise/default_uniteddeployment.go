package kruise

import "k8s.io/apimachinery/pkg/util/intstr"

// defaultUnitedDeployment: docs/kruise/distribution.md#spec and
// docs/kruise/distribution.md#observed-on-a-cluster. Of the templates, only that of a native
// StatefulSet is touched; the other workloads get their defaults when they are created.
func defaultUnitedDeployment(s *UnitedDeploymentSpec) {
	setDefault(&s.Replicas, 1)
	setDefault(&s.RevisionHistoryLimit, 10)
	setText(&s.UpdateStrategy.Type, ManualUpdateStrategyType)
	setDefault(&s.UpdateStrategy.ManualUpdate, ManualUpdate{})
	if t := s.Template.StatefulSetTemplate; t != nil {
		alwaysPull(&t.Spec.Template.Spec)
	}
	if elastic(s.Topology.Subsets) {
		for i := range s.Topology.Subsets {
			setDefault(&s.Topology.Subsets[i].MinReplicas, intstr.FromInt32(0))
		}
	}
}

// elastic: some subset has a limit, and none has a number of its own.
func elastic(subsets []Subset) bool {
	limited := false
	for _, s := range subsets {
		if s.Replicas != nil {
			return false
		}
		limited = limited || s.MinReplicas != nil || s.MaxReplicas != nil
	}
	return limited
}
