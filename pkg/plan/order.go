package plan

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// subject is a workload as its kind sees it: its pods, limits, partition and update order.
type subject struct {
	// total is how many pods there are while it lasts, updated how many of them
	// are up to date already.
	total, updated int
	// leftOut is how many pods a selector of the update strategy leaves out, leftOutNow how
	// many that of the present strategy does.
	leftOut, leftOutNow int
	limits              Limits
	// partition returns what lets exactly this many pods be updated, as a percentage
	// where that is asked for and gives the same number; nil where the kind has no
	// partition in force.
	partition func(updated int, percent bool) intstr.IntOrString
	// allowed is how many pods a partition lets be updated.
	allowed func(partition intstr.IntOrString) int
	// take returns the next n pods that the update reaches.
	take func(n int) []PodStep
	// created is how many pods the change creates, and the first that are up to date where the
	// template changes; leaving are pods that it takes away, where it is known which.
	created int
	leaving []*cluster.Pod
	// displaces reports whether a partition that keeps so many pods would keep created ones instead of present
	// ones, had the first stage them created at the old revision; nil where it never would.
	displaces func(kept int) bool
	// approximate is true for a Deployment, which stops near a number of pods.
	approximate bool
}

// queue is an update order that is taken in steps.
type queue interface {
	Take(n int) []*cluster.Pod
}

// takeFromQueue makes pods of a step from a queue.
func (b *comparison) takeFromQueue(q queue, ties func([]*cluster.Pod) [][]*cluster.Pod, why func(*cluster.Pod) string) func(int) []PodStep {
	var group map[*cluster.Pod]int
	return func(n int) []PodStep {
		taken := q.Take(n)
		if group == nil {
			group = tieNumbers(ties(b.snap.Pods))
		}
		return b.podSteps(taken, group, why)
	}
}

// surplusReason is why a pod is deleted that a surge pod replaces.
const surplusReason = "a surge pod takes its place, and scale-down deletes it"

// Why a pod is deleted that no update reaches.
const (
	leavingReason = "scale-down deletes it"
	namedReason   = "podsToDelete or its label names it"
)

// takeInAnyOrder is for an order that is random within each step: its pods are one tie.
func (b *comparison) takeInAnyOrder(l *fixedQueue, why string) func(int) []PodStep {
	tie := 0
	return func(n int) []PodStep {
		taken := l.Take(n)
		tie++
		group := map[*cluster.Pod]int{}
		if len(taken) > 1 {
			for _, p := range taken {
				group[p] = tie
			}
		}
		return b.podSteps(taken, group, func(*cluster.Pod) string { return why })
	}
}

// tieNumbers numbers sets of pods that could be exchanged.
func tieNumbers(sets [][]*cluster.Pod) map[*cluster.Pod]int {
	out := map[*cluster.Pod]int{}
	for i, set := range sets {
		for _, p := range set {
			out[p] = i + 1
		}
	}
	return out
}

func (b *comparison) podSteps(list []*cluster.Pod, group map[*cluster.Pod]int, why func(*cluster.Pod) string) []PodStep {
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

func noTies([]*cluster.Pod) [][]*cluster.Pod { return nil }

func sameReason(why string) func(*cluster.Pod) string {
	return func(*cluster.Pod) string { return why }
}

// fixedQueue is an update order that does not depend on what went before.
type fixedQueue struct{ left []*cluster.Pod }

func newFixedQueue(order []*cluster.Pod, keep func(*cluster.Pod) bool) *fixedQueue {
	return &fixedQueue{slices.DeleteFunc(slices.Clone(order), func(p *cluster.Pod) bool { return !keep(p) })}
}

// Take returns the next n pods.
func (l *fixedQueue) Take(n int) []*cluster.Pod {
	n = max(0, min(n, len(l.left)))
	taken := l.left[:n]
	l.left = l.left[n:]
	return taken
}

func byName(list []*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *cluster.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// partitionByCount finds the partition that lets exactly a number of pods be updated. A number
// always does. A percentage is taken where it is asked for and comes to the same, rounding and the
// at-least-one rule included, because it still fits when the workload is scaled in the middle of
// the rollout.
func partitionByCount(total int, allowed func(intstr.IntOrString) int) func(int, bool) intstr.IntOrString {
	return func(updated int, percent bool) intstr.IntOrString {
		kept := total - updated
		if updated == 0 {
			return intstr.FromString("100%")
		}
		if percent && kept > 0 {
			for _, try := range []int{kept * 100 / total, (kept*100 + total - 1) / total} {
				v := intstr.FromString(strconv.Itoa(try) + "%")
				if allowed(v) == updated {
					return v
				}
			}
		}
		return intstr.FromInt32(int32(kept))
	}
}

// setNumberPartition is for partitions that are a number of pods. In order, with nil for pods that
// are not there, they are the last ones that an update would reach, whatever these carry: some may have the new
// template already, as after an undo, and stay so (docs/kruise/workloads.md#kubectl-operations).
func (b *comparison) setNumberPartition(s *subject, order []*cluster.Pod) {
	total := max(s.total, 0)
	allowed := make([]int, total+1)
	allowed[0] = total
	for kept := 1; kept <= total; kept++ {
		allowed[kept] = allowed[kept-1] - 1
		if last := total - kept; last < len(order) && order[last] != nil && !order[last].Deleting && b.isUpdated(order[last]) {
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
