package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// replicaSetCandidate is a pod that a ReplicaSet could remove.
type replicaSetCandidate struct {
	standing
	cost int
	// rank is how many related pods share the node.
	rank int
	// readyAge and age are the magnitudes of how long it has been ready and there.
	readyAge, age int
}

// ReplicaSetScaleDownOrder sorts pods of a ReplicaSet by who goes first.
// related are the active pods of all ReplicaSets of the same Deployment. Ready
// and creation times are compared by their order of magnitude, since Kubernetes
// 1.21, and by uid inside one.
func ReplicaSetScaleDownOrder(list, related []*cluster.Pod, now time.Time) []*cluster.Pod {
	perNode := map[string]int{}
	for _, p := range related {
		perNode[p.Node]++
	}
	all := make([]replicaSetCandidate, len(list))
	for i, p := range list {
		c := replicaSetCandidate{standing: standingOf(p), cost: deletionCost(p), rank: perNode[p.Node], age: magnitude(p.Created, now)}
		if c.ready {
			c.readyAge = magnitude(c.since, now)
		}
		all[i] = c
	}
	slices.SortFunc(all, replicaSetCandidate.compare)
	out := make([]*cluster.Pod, len(all))
	for i, c := range all {
		out[i] = c.pod
	}
	return out
}

func (a replicaSetCandidate) compare(b replicaSetCandidate) int {
	first := cmp.Or(
		falseFirst(a.bound, b.bound), cmp.Compare(a.phase, b.phase), falseFirst(a.ready, b.ready),
		cmp.Compare(a.cost, b.cost), cmp.Compare(b.rank, a.rank),
	)
	if first != 0 {
		return first
	}
	if a.ready && b.ready && !a.since.Equal(b.since) {
		return cmp.Or(cmp.Compare(a.readyAge, b.readyAge), strings.Compare(a.pod.UID, b.pod.UID))
	}
	return cmp.Or(
		cmp.Compare(b.restarts, a.restarts),
		cmp.Compare(b.sidecars, a.sidecars),
		cmp.Compare(a.age, b.age),
		strings.Compare(a.pod.UID, b.pod.UID),
	)
}

// magnitude is the order of an age: of two ages of the same one, neither counts
// as the younger.
func magnitude(t, now time.Time) int {
	age := now.Sub(t)
	if age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}
