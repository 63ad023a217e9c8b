package plan

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
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
	// partition is nil where the kind has no partition in force.
	partition partition
	// order is the one in which the update reaches pods; nil where it reaches none by itself.
	order updateOrder
	// created is how many pods the change creates, and the first that are up to date where the
	// template changes; leaving are pods that it takes away, where it is known which.
	created int
	leaving []*cluster.Pod
	// scaleDown takes any of the pods that are alike; nil where it is no matter of chance.
	scaleDown *rules.CloneSet
	// outdatedAt are the places of outdated pods among those that the update reaches last, counted from the very last, where it may
	// reach pods that a change creates after them; nil where it never does.
	outdatedAt []int
	// approximate is true for a Deployment, which stops near a number of pods.
	approximate bool
}

// displaces reports whether a partition that keeps so many pods would keep created ones instead of present
// ones, had the first stage them created at the old revision: a reserved ordinal that is free now lies below these, or these are not ready.
func (s *subject) displaces(kept int) bool {
	n := min(kept, len(s.outdatedAt))
	return n > 0 && s.outdatedAt[n-1] >= kept
}

// updateOrder is an update order that is taken in steps.
type updateOrder interface {
	// Take returns the next n pods.
	Take(n int) []*cluster.Pod
	// Tie numbers the set of pods for which a pod that was taken could be exchanged; 0 is none.
	Tie(*cluster.Pod) int
	// Why is what gives a pod its place.
	Why(*cluster.Pod) string
}

// surplusReason is why a pod is deleted that a surge pod replaces.
const surplusReason = "a surge pod takes its place, and scale-down deletes it"

// Why a pod is deleted that no update reaches.
const (
	leavingReason = "scale-down deletes it"
	namedReason   = "podsToDelete or its label names it"
)

// fixedOrder is an update order that does not depend on what went before.
type fixedOrder struct {
	left []*cluster.Pod
	why  string
	// random is whether the order is random within each step: its pods are one tie. last is how many
	// pods the last of the steps took.
	random      bool
	steps, last int
}

// outdatedInOrder is a fixed order of the pods that are not up to date.
func (b *comparison) outdatedInOrder(order []*cluster.Pod, random bool, why string) *fixedOrder {
	return &fixedOrder{left: slices.DeleteFunc(slices.Clone(order), func(p *cluster.Pod) bool { return !b.isOutdated(p) }), random: random, why: why}
}

// Take returns the next n pods.
func (l *fixedOrder) Take(n int) []*cluster.Pod {
	n = max(0, min(n, len(l.left)))
	taken := l.left[:n]
	l.left, l.last = l.left[n:], n
	l.steps++
	return taken
}

// Tie is the number of the last step where its pods come in a random order.
func (l *fixedOrder) Tie(*cluster.Pod) int {
	if l.random && l.last > 1 {
		return l.steps
	}
	return 0
}

// Why is the same for all pods.
func (l *fixedOrder) Why(*cluster.Pod) string { return l.why }

func byName(list []*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *cluster.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// partition is how a kind counts its partition.
type partition interface {
	// allowed is how many pods a value lets be updated; 0 lets all be that can be.
	allowed(v intstr.IntOrString) int
}

// exactPartition is the partition that lets exactly a number of pods be updated. A number
// always does. A percentage is taken where it is asked for and comes to the same, rounding and the
// at-least-one rule included, because it still fits when the workload is scaled in the middle of
// the rollout.
func exactPartition(p partition, updated int, percent bool) intstr.IntOrString {
	total := p.allowed(intstr.FromInt32(0))
	kept := sort.Search(total, func(kept int) bool { return p.allowed(intstr.FromInt32(int32(kept))) <= updated })
	if _, numbers := p.(numberPartition); numbers {
		return intstr.FromInt32(int32(kept))
	}
	if updated == 0 {
		return intstr.FromString("100%")
	}
	if percent && kept > 0 {
		for _, try := range []int{kept * 100 / total, (kept*100 + total - 1) / total} {
			v := intstr.FromString(strconv.Itoa(try) + "%")
			if p.allowed(v) == updated {
				return v
			}
		}
	}
	return intstr.FromInt32(int32(kept))
}

// numberPartition is a partition that is a number of pods: how many of them each number lets be updated.
type numberPartition []int

func (allowed numberPartition) allowed(v intstr.IntOrString) int {
	return allowed[max(0, min(v.IntValue(), len(allowed)-1))]
}

// numberPartition reads a partition that is a number of pods. In order, with nil for pods that
// are not there, they are the last ones that an update would reach, whatever these carry: some may have the new
// template already, as after an undo, and stay so (docs/kruise/workloads.md#kubectl-operations).
func (b *comparison) numberPartition(total int, order []*cluster.Pod) numberPartition {
	total = max(total, 0)
	allowed := make(numberPartition, total+1)
	allowed[0] = total
	for kept := 1; kept <= total; kept++ {
		allowed[kept] = allowed[kept-1] - 1
		if last := total - kept; last < len(order) && order[last] != nil && !order[last].Deleting && b.isUpdated(order[last]) {
			allowed[kept]++
		}
	}
	return allowed
}
