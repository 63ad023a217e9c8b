package plan

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulSet reads an Advanced StatefulSet (docs/kruise/workloads.md#advanced-statefulset): its
// partition is a number only.
func (b *builder) statefulSet(spec *kruise.StatefulSetSpec) subject {
	all := *spec
	all.UpdateStrategy.RollingUpdate = copied(spec.UpdateStrategy.RollingUpdate)
	all.UpdateStrategy.RollingUpdate.Partition = nil
	set := &rules.StatefulSet{Spec: &all, Current: b.plan.Change.FromRevision, Update: b.updateRevision(), Pods: b.snap.Pods, Gates: b.snap.Gates}
	l := rules.LimitsOfStatefulSet(spec)
	s := subject{
		total: b.total(l.Replicas), updated: b.already(),
		limits: Limits{Replicas: l.Replicas, MaxUnavailable: l.MaxUnavailable},
	}
	if r := spec.UpdateStrategy.RollingUpdate; r != nil && r.MinReadySeconds != nil {
		s.limits.MinReady = time.Duration(*r.MinReadySeconds) * time.Second
	}
	if _, ok := partitionOf(&kruise.StatefulSet{Spec: *spec}); !ok {
		return s
	}
	order := set.UpdateTargets()
	if r := spec.UpdateStrategy.RollingUpdate; r != nil && r.UnorderedUpdate != nil {
		b.numbered(&s, nil)
		s.take = b.takes(newLine(order, b.outdated), noTies, because("by priority, then the highest ordinal"))
		return s
	}
	b.numbered(&s, order[:min(max(s.total, 0), len(order))])
	s.take = b.takes(newLine(order, b.outdated), noTies, because("highest ordinal first"))
	return s
}

// nativeStatefulSet reads a StatefulSet of Kubernetes; its partition is a floor of
// ordinals, which come to the same number of pods.
func (b *builder) nativeStatefulSet(spec *appsv1.StatefulSetSpec) subject {
	set := &rules.NativeStatefulSet{Spec: spec, Update: b.updateRevision(), Pods: b.snap.Pods, MaxUnavailable: b.severalAtOnce()}
	replicas, _ := replicasOf(&appsv1.StatefulSet{Spec: *spec})
	s := subject{
		total: b.total(replicas), updated: b.already(),
		limits: Limits{Replicas: replicas, MaxUnavailable: set.Budget(), MinReady: time.Duration(spec.MinReadySeconds) * time.Second},
	}
	if _, ok := partitionOf(&appsv1.StatefulSet{Spec: *spec}); !ok {
		return s
	}
	order := set.Descending()
	b.numbered(&s, order)
	s.take = b.takes(newLine(order, b.outdated), noTies, because("highest ordinal first"))
	return s
}

func because(why string) func(*cluster.Pod) string {
	return func(*cluster.Pod) string { return why }
}

// numbered is for partitions that are a number of pods. In order, they are the last
// ones that an update would reach, whatever these carry: some may have the new
// template already, as after an undo, and stay so (docs/kruise/workloads.md#kubectl-operations).
func (b *builder) numbered(s *subject, order []*cluster.Pod) {
	total := max(s.total, 0)
	allowed := make([]int, total+1)
	allowed[0] = total
	for kept := 1; kept <= total; kept++ {
		allowed[kept] = allowed[kept-1] - 1
		if last := total - kept; last < len(order) && !order[last].Deleting && b.carries(order[last]) {
			allowed[kept]++
		}
	}
	s.allowed = func(v intstr.IntOrString) int { return allowed[max(0, min(v.IntValue(), total))] }
	s.partition = func(updated int, _ bool) intstr.IntOrString {
		kept := slices.IndexFunc(allowed, func(n int) bool { return n <= updated })
		if kept < 0 {
			kept = total
		}
		return intstr.FromInt32(int32(kept))
	}
}

func noTies([]*cluster.Pod) [][]*cluster.Pod { return nil }

// outdated reports whether a pod still has to change.
func (b *builder) outdated(p *cluster.Pod) bool {
	return !p.Deleting && !b.carries(p)
}

// line is an update order that does not depend on what went before.
type line struct{ left []*cluster.Pod }

func newLine(order []*cluster.Pod, keep func(*cluster.Pod) bool) *line {
	return &line{slices.DeleteFunc(slices.Clone(order), func(p *cluster.Pod) bool { return !keep(p) })}
}

// Take returns the next n pods.
func (l *line) Take(n int) []*cluster.Pod {
	n = max(0, min(n, len(l.left)))
	taken := l.left[:n]
	l.left = l.left[n:]
	return taken
}
