package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// strategyPath is where partition and paused stand in an object's spec
// (docs/kruise/workloads.md#fields-to-patch). It is nil for kinds that have no partition.
func strategyPath(w *cluster.Workload) []string {
	switch {
	case w.Group == kruise.Group && w.Kind == kruise.KindCloneSet && w.Version == "v1alpha1", w.Kind == kruise.KindSidecarSet:
		return []string{"updateStrategy"}
	case w.Group == kruise.Group, w.Kind == kruise.KindStatefulSet:
		return []string{"updateStrategy", "rollingUpdate"}
	}
	return nil
}

// partitionOf returns the partition in force; ok is false where the kind, or its
// strategy OnDelete, has none. One that is not set is 0.
func partitionOf(obj any) (v intstr.IntOrString, ok bool) { return cluster.Of(obj).Partition() }

// withPartition returns a workload that differs in its partition only.
func withPartition(w *cluster.Workload, v intstr.IntOrString) *cluster.Workload {
	return with(w, cluster.Of(w.Object).WithPartition(v))
}

// with returns the workload with another object.
func with(w *cluster.Workload, obj any) *cluster.Workload {
	out := *w
	out.Object = obj
	return &out
}

func copied[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	out := *v
	return &out
}

// withReplicas returns a workload that differs in its number of pods only.
func withReplicas(w *cluster.Workload, n int) *cluster.Workload {
	return with(w, cluster.Of(w.Object).WithReplicas(n))
}

// withPaused returns a Deployment that differs in its pause only.
func withPaused(w *cluster.Workload, paused bool) *cluster.Workload {
	return with(w, cluster.Of(w.Object).WithPaused(paused))
}

// PartitionPath is where an object of a kind, as it is served in a version, has its
// partition; nil for kinds that have none.
func PartitionPath(group, kind, version string) []string {
	w := &cluster.Workload{Ref: cluster.Ref{Group: group, Kind: kind}, Version: version}
	path := strategyPath(w)
	if path == nil {
		return nil
	}
	return slices.Concat([]string{"spec"}, path, []string{"partition"})
}

// PausedPath is where an object of a kind, as it is served in a version, says that its
// controller shall not update pods; nil for kinds that cannot.
func PausedPath(group, kind, version string) []string {
	if group == "apps" && kind == kruise.KindDeployment {
		return []string{"spec", "paused"}
	}
	if group == "apps" {
		return nil
	}
	path := PartitionPath(group, kind, version)
	if path == nil {
		return nil
	}
	return append(path[:len(path)-1:len(path)-1], "paused")
}

// PartitionOf is the partition in force of a workload, in text; "" for one that has
// none.
func PartitionOf(w *cluster.Workload) string {
	if w == nil {
		return ""
	}
	v, ok := partitionOf(w.Object)
	if !ok {
		return ""
	}
	return v.String()
}
