package rules

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// candidate is a pod that could be removed, with what scale-down compares
// beyond the default order (docs/kruise/workloads.md#scale-down-order).
type candidate struct {
	standing
	available bool
	cost      int
	rank      float64
}

// Victims returns the pods that a scale-down by n takes, downOld of them from
// the old revisions, and in which order.
func (c *CloneSet) Victims(n, downOld int) []*cluster.Pod {
	active := c.active()
	fromOld := min(n, downOld)
	old := c.ScaleDownOrder(filter(active, not(c.updated)))
	updated := c.ScaleDownOrder(filter(active, c.updated))
	return append(slices.Clone(old[:min(fromOld, len(old))]), updated[:min(n-fromOld, len(updated))]...)
}

// ScaleDownOrder sorts the pods of one side by who goes first.
func (c *CloneSet) ScaleDownOrder(group []*cluster.Pod) []*cluster.Pod {
	all := make([]candidate, len(group))
	for i, p := range group {
		all[i] = candidate{standing: standingOf(p), available: c.available(p), cost: deletionCost(p)}
	}
	sortCandidates(all)
	if constraints := c.Spec.Template.Spec.TopologySpreadConstraints; len(constraints) > 0 {
		rankByTopology(all, constraints, c.Nodes)
	} else {
		rankByNode(all)
	}
	sortCandidates(all)
	out := make([]*cluster.Pod, len(all))
	for i, v := range all {
		out[i] = v.pod
	}
	return out
}

func sortCandidates(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		if c := a.compare(b); c != 0 {
			return c
		}
		return byName(a.pod, b.pod)
	})
}

func (a candidate) compare(b candidate) int {
	return cmp.Or(
		falseFirst(a.bound, b.bound),
		cmp.Compare(a.phase, b.phase),
		falseFirst(a.available, b.available),
		falseFirst(a.ready, b.ready),
		cmp.Compare(a.cost, b.cost),
		cmp.Compare(b.rank, a.rank),
		a.compareAge(b.standing),
	)
}

// rankByNode gives the pods of a crowded node the higher ranks: of k pods the
// first gets k-1 and the last 0.
func rankByNode(all []candidate) {
	perNode := map[string]int{}
	for _, v := range all {
		perNode[v.pod.Node]++
	}
	seen := map[string]int{}
	for i := range all {
		node := all[i].pod.Node
		all[i].rank = float64(perNode[node] - 1 - seen[node])
		seen[node]++
	}
}

// rankByTopology sums over the constraints how crowded the pod's place is: in a
// place of n pods the i-th gets n-i, weighted by the number of places. A pod
// whose node does not have the label counts nothing.
func rankByTopology(all []candidate, constraints []corev1.TopologySpreadConstraint, nodes map[string]*cluster.Node) {
	for _, constraint := range constraints {
		place := func(v candidate) (string, bool) {
			node, ok := nodes[v.pod.Node]
			if !ok {
				return "", false
			}
			text, ok := node.Labels[constraint.TopologyKey]
			return text, ok
		}
		per, seen := map[string]int{}, map[string]int{}
		for _, v := range all {
			if text, ok := place(v); ok {
				per[text]++
			}
		}
		weight := math.Log(float64(len(per) + 2))
		for i := range all {
			if text, ok := place(all[i]); ok {
				all[i].rank += float64(per[text]-seen[text]) * weight
				seen[text]++
			}
		}
	}
}

// deletionCost reads the pod's own wish; what is not a number counts as 0.
func deletionCost(p *cluster.Pod) int {
	n, err := strconv.ParseInt(p.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}
