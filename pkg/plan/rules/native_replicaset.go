package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// replicaSetCandidate is a pod that a ReplicaSet could remove.
type replicaSetCandidate struct {
	standing
	cost int
	// rank is how many related pods share the node.
	rank int
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
		all[i] = replicaSetCandidate{standingOf(p), deletionCost(p), perNode[p.Node]}
	}
	slices.SortFunc(all, func(a, b replicaSetCandidate) int { return a.compare(b, now) })
	out := make([]*cluster.Pod, len(all))
	for i, c := range all {
		out[i] = c.pod
	}
	return out
}

func (a replicaSetCandidate) compare(b replicaSetCandidate, now time.Time) int {
	first := cmp.Or(
		falseFirst(a.bound, b.bound), cmp.Compare(a.phase, b.phase), falseFirst(a.ready, b.ready),
		cmp.Compare(a.cost, b.cost), cmp.Compare(b.rank, a.rank),
	)
	if first != 0 {
		return first
	}
	if a.ready && b.ready && !a.since.Equal(b.since) {
		return cmp.Or(compareAge(a.since, b.since, now), strings.Compare(a.pod.UID, b.pod.UID))
	}
	return cmp.Or(
		cmp.Compare(b.restarts, a.restarts),
		cmp.Compare(b.sidecars, a.sidecars),
		compareAge(a.pod.Created, b.pod.Created, now),
		strings.Compare(a.pod.UID, b.pod.UID),
	)
}

// compareAge puts the younger first, unless both ages have the same magnitude.
func compareAge(a, b, now time.Time) int { return cmp.Compare(magnitude(a, now), magnitude(b, now)) }

func magnitude(t, now time.Time) int {
	age := now.Sub(t)
	if age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}

// ReplicaSetPending says what a change of replicas waits for.
func ReplicaSetPending(rs *appsv1.ReplicaSet) Pending {
	r := int32(number(rs.Spec.Replicas, 1))
	var p Pending
	p.seen(rs.Status.ObservedGeneration, rs.Generation)
	p.count("replicas", rs.Status.Replicas, r)
	p.count("availableReplicas", rs.Status.AvailableReplicas, r)
	return p
}
