package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// desired is how many pods must stay available.
func (b *podBudget) desired(expected int) int {
	if v := b.Spec.MinAvailable; v != nil {
		n, _ := intstr.GetScaledValueFromIntOrPercent(v, expected, true)
		return n
	}
	n, _ := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(b.Spec.MaxUnavailable, intstr.FromInt32(0)), expected, true)
	return max(0, expected-n)
}

// count returns how many pods there shall be, and how many are available, as
// far as they are known.
func (b *podBudget) count() (expected, available int) {
	pods := b.s.c.Facts.All("", "Pod")
	if !slices.Contains(pods, b.s.r) {
		pods = append(pods, b.s.r)
	}
	replicas := map[resource.ID]int{}
	for _, r := range pods {
		if b.s.c.Facts.NamespaceOf(r) != b.s.c.Facts.NamespaceOf(b.s.r) || !b.covers(r) {
			continue
		}
		if readyPod(r.Node()) {
			available++
		}
		if owner := b.s.controllerOf(r); owner != nil {
			b.add(replicas, owner)
		}
	}
	for _, n := range replicas {
		expected += n
	}
	if ref := b.Spec.TargetReference; ref != nil {
		if target := b.s.find(resource.GroupOf(ref.APIVersion), ref.Kind, ref.Name); target != nil {
			expected = replicasOf(target)
		}
	}
	if n := b.Spec.ProtectTotalReplicas; n != nil {
		expected = int(*n)
	}
	return expected, available
}

// add counts a controller's replicas once, and ReplicaSets of one Deployment as
// that; those of one that is not known are its pods.
func (b *podBudget) add(replicas map[resource.ID]int, owner *tree.Node) {
	if above := b.s.behind(owner); above != nil {
		owner = above
	}
	id := resource.ID{Group: resource.GroupOf(tree.StrAt(owner, "apiVersion")), Kind: tree.StrAt(owner, "kind"), Name: tree.StrAt(owner, "name")}
	workload := b.s.find(id.Group, id.Kind, id.Name)
	switch {
	case unscaled[id.Group+"/"+id.Kind]:
		replicas[id] = beyondScale
	case workload == nil:
		replicas[id]++
	default:
		replicas[id] = replicasOf(workload)
	}
}

// unscaled are the kinds without a subresource scale. Kruise counts such a
// workload as one pod less than none, which voids a maxUnavailable.
var unscaled = map[string]bool{
	"apps/DaemonSet": true, "batch/Job": true, kruise.Group + "/DaemonSet": true, kruise.Group + "/BroadcastJob": true,
}

const beyondScale = -1

// replicasOf is how many pods a workload shall have; left out, it is stored as
// 1.
func replicasOf(r *resource.Resource) int {
	if unscaled[r.Group()+"/"+r.Kind()] {
		return beyondScale
	}
	n := tree.Get(r.Node(), "spec", "replicas")
	if n == nil {
		return 1
	}
	v, _ := tree.Int(n)
	return int(v)
}
