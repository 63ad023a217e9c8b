package rules

import (
	"cmp"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// RecordedSize is what a ReplicaSet's annotations say of its Deployment when it
// was last scaled: spec.replicas, and that plus the surge.
type RecordedSize struct{ Desired, Most int }

// Rescale returns the sizes that the controller gives the ReplicaSets when
// spec.replicas has changed, or while the Deployment is paused; ok is false when
// neither is so and the rollout goes on by [Deployment.Next]. In the middle of a
// rollout the change is spread over the ReplicaSets in proportion to their sizes.
func (d *Deployment) Rescale() (updated int, old []int, ok bool) {
	if !d.Spec.Paused && !d.rescaled() {
		return 0, nil, false
	}
	sizes := d.sizes()
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

func (d *Deployment) sizes() []int {
	var out []int
	for _, rs := range d.all() {
		out = append(out, rs.Replicas)
	}
	return out
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

func (d *Deployment) saturated(l DeploymentLimits) bool {
	return d.New.Replicas == l.Replicas && d.New.Available == l.Replicas &&
		d.New.Recorded != nil && d.New.Recorded.Desired == l.Replicas
}

// spread gives every active ReplicaSet its share of the change, largest first,
// and what rounding leaves to the largest.
func (d *Deployment) spread(l DeploymentLimits, active, sizes []int) {
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
func (d *Deployment) share(rs ReplicaSetSize, l DeploymentLimits, most int) int {
	if l.Replicas == 0 {
		return -rs.Replicas
	}
	before, _ := d.total()
	if rs.Recorded != nil && rs.Recorded.Most > 0 {
		before = rs.Recorded.Most
	}
	return int(math.Round(float64(rs.Replicas*most)/float64(before))) - rs.Replicas
}
