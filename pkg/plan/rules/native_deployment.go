package rules

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
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
	// New is the ReplicaSet of the present template, without a name while there
	// is none; Old are the others, oldest first.
	New ReplicaSetSize
	Old []ReplicaSetSize
}

// DeploymentLimits are the numbers that the spec comes to.
type DeploymentLimits struct{ Replicas, MaxSurge, MaxUnavailable int }

// LimitsOfDeployment resolves the numbers: surge is rounded up, unavailable
// down, and when both come to nothing one pod may be unavailable.
func LimitsOfDeployment(spec *appsv1.DeploymentSpec) DeploymentLimits {
	l := DeploymentLimits{Replicas: number(spec.Replicas, 1)}
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
		return d.recreate(l, old)
	}
	if updated = d.grow(l); updated != d.New.Replicas {
		return updated, old
	}
	return updated, d.shrink(l, old)
}

// recreate takes all old pods away before it makes a new one.
func (d *Deployment) recreate(l DeploymentLimits, old []int) (int, []int) {
	for _, n := range old {
		if n > 0 {
			return d.New.Replicas, make([]int, len(old))
		}
	}
	return l.Replicas, old
}

func (d *Deployment) total() (replicas, available int) {
	replicas, available = d.New.Replicas, d.New.Available
	for _, rs := range d.Old {
		replicas += rs.Replicas
		available += rs.Available
	}
	return replicas, available
}

func (d *Deployment) grow(l DeploymentLimits) int {
	if d.New.Replicas >= l.Replicas {
		return l.Replicas
	}
	total, _ := d.total()
	room := max(l.Replicas+l.MaxSurge-total, 0)
	return d.New.Replicas + min(room, l.Replicas-d.New.Replicas)
}

func (d *Deployment) shrink(l DeploymentLimits, old []int) []int {
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

// DeploymentPending says what a rollout waits for, as kubectl rollout status
// does.
func DeploymentPending(d *appsv1.Deployment) Pending {
	s, r := d.Status, int32(number(d.Spec.Replicas, 1))
	var p Pending
	p.seen(s.ObservedGeneration, d.Generation)
	p.atLeast("updatedReplicas", s.UpdatedReplicas, r)
	p.need(s.Replicas <= s.UpdatedReplicas, "%d old pods are left", s.Replicas-s.UpdatedReplicas)
	p.atLeast("availableReplicas", s.AvailableReplicas, r)
	return p
}

// DeadlineExceeded reports whether a Deployment gave up: its condition
// Progressing says so.
func DeadlineExceeded(d *appsv1.Deployment) bool {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			return c.Reason == ReasonProgressDeadlineExceeded
		}
	}
	return false
}
