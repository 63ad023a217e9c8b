package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// nobody is a revision that no pod has: that of a template that is not stored yet.
const nobody = "(not stored)"

// cloneSet reads a CloneSet (docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#update-order).
func (b *builder) cloneSet(spec *kruise.CloneSetSpec) subject {
	set := b.cloneSetRules(spec)
	l := rules.LimitsOfCloneSet(spec)
	s := subject{
		total:   b.total(l.Replicas),
		updated: b.already(),
		limits:  Limits{l.Replicas, l.MaxUnavailable, l.MaxSurge, time.Duration(spec.MinReadySeconds) * time.Second},
	}
	if _, ok := partitionOf(&kruise.CloneSet{Spec: *spec}); ok {
		total := s.total
		s.allowed = func(v intstr.IntOrString) int { return total - rules.Partition(&v, total) }
		s.partition = inverse(s.total, s.allowed)
		s.take = b.takes(set.Queue(), set.Ties, set.Placing().Of)
		if passes := s.total / max(l.MaxUnavailable+l.MaxSurge, 1); set.Forecasts() && passes*s.total <= mostForecast {
			s.take = b.foresees(set, total)
		}
	}
	return s
}

func (b *builder) cloneSetRules(spec *kruise.CloneSetSpec) *rules.CloneSet {
	current := b.plan.Change.FromRevision
	return &rules.CloneSet{
		Spec: spec, Current: current, Update: b.updateRevision(),
		Pods: b.snap.Pods, Nodes: b.snap.Nodes, Gates: b.snap.Gates,
	}
}

// updateRevision is the revision that pods go to.
func (b *builder) updateRevision() string {
	if b.present.Kind == kruise.KindReplicaSet {
		return b.plan.Change.ToHash
	}
	if r := b.plan.Change.ToRevision; r != "" {
		return r
	}
	return nobody
}

// total is how many pods there are while the update lasts: a workload that
// shrinks does so before, one that grows afterwards.
func (b *builder) total(desired int) int {
	if present, ok := replicasOf(b.present.Object); ok {
		return min(present, desired)
	}
	return desired
}

// already counts pods that carry the new template.
func (b *builder) already() int {
	n := 0
	for _, p := range b.snap.Pods {
		if rules.Active(p) && b.carries(p) {
			n++
		}
	}
	return n
}

// carries reports whether a pod has the new template. Those of a Deployment say so
// by the hash of their ReplicaSet.
func (b *builder) carries(p *cluster.Pod) bool {
	if b.of == nil {
		b.of = kindOf(b.present.Object)
	}
	return b.of.carries(b, p)
}

// queue is an update order that is asked for in steps.
type queue interface {
	Take(n int) []*cluster.Pod
}

// takes writes what a queue gives as pods of a step.
func (b *builder) takes(q queue, ties func([]*cluster.Pod) [][]*cluster.Pod, why func(*cluster.Pod) string) func(int) []PodStep {
	var group map[*cluster.Pod]int
	return func(n int) []PodStep {
		taken := q.Take(n)
		if group == nil {
			group = groups(ties(b.snap.Pods))
		}
		return b.podSteps(taken, group, why)
	}
}

// mostForecast bounds the pods that a forecast looks at, in all its passes, to about half a
// second. Thousands of pods that go one by one are listed in the plain order.
const mostForecast = 4_000_000

// surplus is why a pod goes whose place a surge pod has.
const surplus = "a surge pod takes its place, and scale-down deletes it"

// foresees is takes for a CloneSet of which no order that is sorted once says which
// pods a step reaches.
func (b *builder) foresees(set *rules.CloneSet, total int) func(int) []PodStep {
	var f *rules.Forecast
	var group map[*cluster.Pod]int
	why := set.Placing().Of
	return func(n int) []PodStep {
		if f == nil {
			f = set.Forecast(total, b.modes.mode)
			group = groups(set.Ties(b.snap.Pods))
		}
		var out []PodStep
		for _, r := range f.Take(n) {
			if p := r.Pod; r.Surplus {
				out = append(out, PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: rules.ModeRecreate, Tie: group[p], Why: surplus})
				continue
			}
			out = append(out, b.podSteps([]*cluster.Pod{r.Pod}, group, why)...)
		}
		return out
	}
}

// groups numbers sets of pods that could be exchanged.
func groups(sets [][]*cluster.Pod) map[*cluster.Pod]int {
	out := map[*cluster.Pod]int{}
	for i, set := range sets {
		for _, p := range set {
			out[p] = i + 1
		}
	}
	return out
}

func (b *builder) podSteps(list []*cluster.Pod, group map[*cluster.Pod]int, why func(*cluster.Pod) string) []PodStep {
	out := make([]PodStep, len(list))
	for i, p := range list {
		mode, because := b.modes.of(p)
		out[i] = PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: mode, Tie: group[p], Why: why(p)}
		if mode != b.plan.Change.Mode {
			out[i].Why = because
		}
	}
	return out
}

// inverse finds the partition that lets exactly so many pods be updated. A number
// always does. A percentage is taken where it is asked for and comes to the same,
// rounding and the at-least-one rule included, because it still says the same
// when somebody scales the workload in the middle of the rollout.
func inverse(total int, allowed func(intstr.IntOrString) int) func(int, bool) intstr.IntOrString {
	return func(updated int, percent bool) intstr.IntOrString {
		kept := total - updated
		if updated == 0 {
			return intstr.FromString("100%")
		}
		if percent && kept > 0 {
			for _, try := range []int{kept * 100 / total, (kept*100 + total - 1) / total} {
				v := intstr.FromString(itoa(try) + "%")
				if allowed(v) == updated {
					return v
				}
			}
		}
		return intstr.FromInt32(int32(kept))
	}
}
