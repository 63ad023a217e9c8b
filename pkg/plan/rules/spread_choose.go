package rules

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SpreadChoice is what the webhook decides about a new pod.
type SpreadChoice struct {
	// Subset is where the pod goes; [spread.None] leaves it as it is.
	Subset int
	// Counted says that the subset has a limit, so that the pod was counted
	// against it: a pod without a name gets a uid for that.
	Counted bool
	// Status is the WorkloadSpread's status with the pod in it; nil when nothing
	// was counted.
	Status *kruise.WorkloadSpreadStatus
}

// Choose decides for a pod that is about to be created; labels, and the name of a
// StatefulSet's pod, are all that is read of it.
func (s *Spread) Choose(p *cluster.Pod) SpreadChoice {
	subsets := s.Spec.Subsets
	switch {
	case !s.Admits(p.Labels):
		return SpreadChoice{Subset: spread.None}
	case len(subsets) == 1 && subsets[0].MaxReplicas == nil:
		return SpreadChoice{}
	case s.targets(kruise.KindStatefulSet):
		return SpreadChoice{Subset: spread.Ordinal(s.rooms(spread.Limits(subsets, s.Replicas)), OrdinalOf(p))}
	}
	version := s.Version(p)
	missing := s.missing(version)
	c := SpreadChoice{Subset: spread.Choose(s.rooms(missing))}
	if c.Subset != spread.None && missing[c.Subset] > 0 {
		missing[c.Subset]--
		c.Counted, c.Status = true, s.noted(version, missing)
	}
	return c
}

func (s *Spread) rooms(missing []int) []spread.Room {
	out := make([]spread.Room, len(missing))
	for i, n := range missing {
		out[i] = spread.Room{Missing: n, Closed: s.closed(i)}
	}
	return out
}

// closed reports whether new pods go past a subset.
func (s *Spread) closed(i int) bool {
	c := s.condition(i)
	return c != nil && c.Status == metav1.ConditionFalse
}

// missing is the room of each subset for one version: what the status says, the
// limits where it says nothing. As long as it says nothing of the version at
// all, percentages of a CloneSet that is named as v1beta1 are of 0 replicas, so
// no limited subset has room (recorded in 002).
func (s *Spread) missing(version string) []int {
	var known []kruise.WorkloadSpreadSubsetStatus
	if s.Status != nil {
		known = s.Status.VersionedSubsetStatuses[version]
	}
	replicas := s.Replicas
	if ref := s.Spec.TargetReference; len(known) == 0 && ref != nil && ref.Kind == kruise.KindCloneSet && ref.APIVersion == kruise.Group+"/v1beta1" {
		replicas = 0
	}
	out := spread.Limits(s.Spec.Subsets, replicas)
	for i, subset := range s.Spec.Subsets {
		if status := statusOf(known, subset.Name); status != nil {
			out[i] = int(status.MissingReplicas)
		}
	}
	return out
}

// noted returns a copy of the status in which one version has this room.
func (s *Spread) noted(version string, missing []int) *kruise.WorkloadSpreadStatus {
	next := s.Count()
	list := next.VersionedSubsetStatuses[version]
	if list == nil {
		list = s.statuses(nil, nil)
	}
	for i := range list {
		list[i].MissingReplicas = int32(missing[i])
	}
	if next.VersionedSubsetStatuses == nil {
		next.VersionedSubsetStatuses = map[string][]kruise.WorkloadSpreadSubsetStatus{}
	}
	next.VersionedSubsetStatuses[version] = list
	return next
}

func statusOf(list []kruise.WorkloadSpreadSubsetStatus, name string) *kruise.WorkloadSpreadSubsetStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// condition is the subset's condition Schedulable, nil without one.
func (s *Spread) condition(i int) *metav1.Condition {
	if s.Status == nil {
		return nil
	}
	status := statusOf(s.Status.SubsetStatuses, s.Spec.Subsets[i].Name)
	if status == nil {
		return nil
	}
	for j := range status.Conditions {
		if status.Conditions[j].Type == string(schedulable) {
			return &status.Conditions[j]
		}
	}
	return nil
}

// schedulable is the condition of a subset under Adaptive.
const schedulable corev1.PodConditionType = "Schedulable"
