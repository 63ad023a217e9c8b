package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ReplicaSetSize is one ReplicaSet of a Deployment, in numbers.
type ReplicaSetSize struct {
	Name string
	// Replicas is what its spec asks for, Available what its status has.
	Replicas, Available int
	// Recorded is nil for one that the controller has not scaled yet.
	Recorded *RecordedSize
}

// Deployment is a native Deployment with all that its rules look at.
type Deployment struct {
	Spec *appsv1.DeploymentSpec
	// New is the ReplicaSet of the current template, without a name until it exists; Old are the
	// others, oldest first.
	New ReplicaSetSize
	Old []ReplicaSetSize
}

// LimitsOfDeployment resolves the numbers: surge is rounded up, unavailable
// down, and when both come to nothing one pod may be unavailable.
func LimitsOfDeployment(spec *appsv1.DeploymentSpec) Limits {
	l := Limits{Replicas: number(spec.Replicas, 1)}
	byDefault := intstr.FromString("25%")
	var surge, unavailable *intstr.IntOrString
	if r := spec.Strategy.RollingUpdate; r != nil {
		surge, unavailable = r.MaxSurge, r.MaxUnavailable
	}
	l.MaxSurge = scaledOr(surge, byDefault, l.Replicas, true)
	l.MaxUnavailable = min(scaledOr(unavailable, byDefault, l.Replicas, false), l.Replicas)
	if l.MaxSurge == 0 && l.MaxUnavailable == 0 {
		l.MaxUnavailable = 1
	}
	return l
}

// Next returns the sizes that the controller gives its ReplicaSets next: first
// the new one grows within the surge; when it does not, the old ones shrink,
// broken pods first, as far as availability allows. Nothing moves while paused.
func (d *Deployment) Next() (updated int, old []int) {
	old = make([]int, len(d.Old))
	for i, rs := range d.Old {
		old[i] = rs.Replicas
	}
	l := LimitsOfDeployment(d.Spec)
	if d.Spec.Paused {
		return d.New.Replicas, old
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		// Take all old pods away before a new one is made.
		for _, n := range old {
			if n > 0 {
				return d.New.Replicas, make([]int, len(old))
			}
		}
		return l.Replicas, old
	}
	if updated = d.grow(l); updated != d.New.Replicas {
		return updated, old
	}
	return updated, d.shrink(l, old)
}

func (d *Deployment) total() (replicas, available int) {
	replicas, available = d.New.Replicas, d.New.Available
	for _, rs := range d.Old {
		replicas += rs.Replicas
		available += rs.Available
	}
	return replicas, available
}

func (d *Deployment) grow(l Limits) int {
	if d.New.Replicas >= l.Replicas {
		return l.Replicas
	}
	total, _ := d.total()
	room := max(l.Replicas+l.MaxSurge-total, 0)
	return d.New.Replicas + min(room, l.Replicas-d.New.Replicas)
}

func (d *Deployment) shrink(l Limits, old []int) []int {
	total, available := d.total()
	wanted := l.Replicas - l.MaxUnavailable
	most := total - wanted - (d.New.Replicas - d.New.Available)
	if most <= 0 {
		return old
	}
	for i, rs := range d.Old {
		broken := upTo(rs.Replicas-rs.Available, most)
		old[i] -= broken
		most -= broken
	}
	spare := available - wanted
	for i := range old {
		take := upTo(spare, old[i])
		old[i] -= take
		spare -= take
	}
	return old
}

// RecordedSize has the numbers of the Deployment in a ReplicaSet's annotations, as they were when
// it was last scaled: spec.replicas, and that plus the surge.
type RecordedSize struct{ Desired, Most int }

// Rescale returns the sizes that the controller gives the ReplicaSets when
// spec.replicas has changed, or while the Deployment is paused; ok is false when
// neither is so and the rollout goes on by [Deployment.Next]. In the middle of a
// rollout the change is spread over the ReplicaSets in proportion to their sizes.
func (d *Deployment) Rescale() (updated int, old []int, ok bool) {
	if !d.Spec.Paused && !d.rescaled() {
		return 0, nil, false
	}
	var sizes []int
	for _, rs := range d.all() {
		sizes = append(sizes, rs.Replicas)
	}

	l := LimitsOfDeployment(d.Spec)
	active := slices.Collect(func(yield func(int) bool) {
		for i, rs := range d.all() {
			if rs.Replicas > 0 && !yield(i) {
				return
			}
		}
	})
	switch only := d.onlyOne(active); {
	case only >= 0:
		sizes[only] = l.Replicas
	case d.saturated(l):
		clear(sizes[1:])
	case len(active) > 1 && d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType:
		d.spread(l, active, sizes)
	}
	return sizes[0], sizes[1:], true
}

// all are the new ReplicaSet and then the old ones, oldest first.
func (d *Deployment) all() []ReplicaSetSize {
	return append([]ReplicaSetSize{d.New}, d.Old...)
}

// rescaled reports whether a ReplicaSet with pods was last scaled for another
// spec.replicas.
func (d *Deployment) rescaled() bool {
	return slices.ContainsFunc(d.all(), func(rs ReplicaSetSize) bool {
		return rs.Replicas > 0 && rs.Recorded != nil && rs.Recorded.Desired != number(d.Spec.Replicas, 1)
	})
}

// onlyOne is the place of the ReplicaSet that takes the whole change: the only
// one that has pods or, when none has, the new one or the newest old one.
// Negative when there are several, or none at all.
func (d *Deployment) onlyOne(active []int) int {
	switch {
	case len(active) == 1:
		return active[0]
	case len(active) > 1:
		return -1
	case d.New.Name != "":
		return 0
	case len(d.Old) > 0:
		return len(d.Old)
	}
	return -1
}

func (d *Deployment) saturated(l Limits) bool {
	return d.New.Replicas == l.Replicas && d.New.Available == l.Replicas &&
		d.New.Recorded != nil && d.New.Recorded.Desired == l.Replicas
}

// spread gives every active ReplicaSet its share of the change, largest first,
// and what rounding leaves to the largest.
func (d *Deployment) spread(l Limits, active, sizes []int) {
	total, _ := d.total()
	most := 0
	if l.Replicas > 0 {
		most = l.Replicas + l.MaxSurge
	}
	add := most - total
	if add == 0 {
		return
	}
	all := d.all()
	slices.SortStableFunc(active, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[b].Replicas, all[a].Replicas), d.byAge(a, b, add > 0))
	})
	left := add
	for _, i := range active {
		share := d.share(all[i], l, most)
		if add > 0 {
			share = min(share, left)
		} else {
			share = max(share, left)
		}
		sizes[i] += share
		left -= share
	}
	sizes[active[0]] = max(sizes[active[0]]+left, 0)
}

// byAge puts the newer before the older, or the other way round; the new
// ReplicaSet, at 0, is the newest.
func (d *Deployment) byAge(a, b int, newerFirst bool) int {
	age := func(i int) int { return (i + len(d.Old)) % (len(d.Old) + 1) }
	if newerFirst {
		return cmp.Compare(age(b), age(a))
	}
	return cmp.Compare(age(a), age(b))
}

// share is by how much a ReplicaSet changes when the whole goes from what it
// was to most.
func (d *Deployment) share(rs ReplicaSetSize, l Limits, most int) int {
	if l.Replicas == 0 {
		return -rs.Replicas
	}
	before, _ := d.total()
	if rs.Recorded != nil && rs.Recorded.Most > 0 {
		before = rs.Recorded.Most
	}
	return int(math.Round(float64(rs.Replicas*most)/float64(before))) - rs.Replicas
}

// replicaSetCandidate is a pod that a ReplicaSet could remove.
type replicaSetCandidate struct {
	sortKey
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
		c := replicaSetCandidate{sortKey: sortKeyOf(p), cost: deletionCost(p), rank: perNode[p.Node], age: magnitude(p.Created, now)}
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
