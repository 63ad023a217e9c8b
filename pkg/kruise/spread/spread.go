// Package spread chooses the subset of a WorkloadSpread for a pod of its target, and injects the
// subset's settings into the pod, as Kruise's admission webhook does when a pod is created
// (docs/kruise/distribution.md#workloadspread). It is a pure leaf: the renderer uses it on
// templates, the simulator on pods, and it knows neither, no cluster and no clock.
package spread

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Room is what is known of a subset when a pod comes.
type Room struct {
	// Missing is how many more pods the subset takes, or [Unlimited]; for ordinals
	// it is how many it takes at all.
	Missing int
	// Closed is true if the subset is taken as unschedulable: pods go past it.
	Closed bool
}

// Choose returns the subset of a new pod: the first that is open and has room,
// [None] when there is none. Declaration order is all that counts: an open
// subset before a limited one takes everything.
func Choose(rooms []Room) int {
	for i, r := range rooms {
		if !r.Closed && r.Missing != 0 {
			return i
		}
	}
	return None
}

// Ordinal returns the subset of a StatefulSet's pod, which depends on its number
// alone: the first in which the limits of the open subsets so far add up to more.
func Ordinal(rooms []Room, ordinal int) int {
	sum := 0
	for i, r := range rooms {
		switch {
		case r.Closed:
		case r.Missing == Unlimited:
			return i
		default:
			if sum += r.Missing; ordinal < sum {
				return i
			}
		}
	}
	return None
}

// Fill shares n pods out over subsets with these limits, as they come in one
// after the other; rest is how many no subset takes.
func Fill(limits []int, n int) (counts []int, rest int) {
	counts, rest = make([]int, len(limits)), max(n, 0)
	for i, limit := range limits {
		take := rest
		if limit != Unlimited {
			take = min(limit, rest)
		}
		counts[i] = take
		rest -= take
	}
	return counts, rest
}

// FillOrdinals shares a StatefulSet's ordinals, ascending, out over its subsets;
// rest are those that no subset takes.
func FillOrdinals(limits, ordinals []int) (shares [][]int, rest []int) {
	rooms := make([]Room, len(limits))
	for i, limit := range limits {
		rooms[i].Missing = limit
	}
	shares = make([][]int, len(limits))
	for _, o := range ordinals {
		if i := Ordinal(rooms, o); i != None {
			shares[i] = append(shares[i], o)
			continue
		}
		rest = append(rest, o)
	}
	return shares, rest
}

// Unlimited is the limit, and the room, of a subset without maxReplicas.
const Unlimited = -1

// None is the place of a pod for which no subset has room.
const None = -1

// limitOf is how many pods a subset with this maxReplicas takes of a target with so
// many replicas: a percentage is rounded up, nil is [Unlimited]. What is no
// amount counts as 0; the webhook refuses it.
func limitOf(maxReplicas *intstr.IntOrString, replicas int) int {
	if maxReplicas == nil {
		return Unlimited
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(maxReplicas, replicas, true)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// Limits are the limits of all subsets, in their order.
func Limits(subsets []kruise.WorkloadSpreadSubset, replicas int) []int {
	out := make([]int, len(subsets))
	for i, s := range subsets {
		out[i] = limitOf(s.MaxReplicas, replicas)
	}
	return out
}

// Missing is how many more pods a subset takes that has some, [Unlimited] without
// a limit. Limits that were lowered leave no debt.
func Missing(limit, pods int) int {
	if limit == Unlimited {
		return Unlimited
	}
	return max(limit-pods, 0)
}

// Replicas is what percentages of maxReplicas are of: the sum of the numbers that
// paths (targetFilter.replicasPathList) lead to in the target or, without any,
// [Pods]. A path that leads to no number is an error, which is reported at
// spec.targetFilter.
func Replicas(target *tree.Node, paths []string) (int, error) {
	if len(paths) == 0 {
		return Pods(target), nil
	}
	sum := 0
	for _, path := range paths {
		at, _ := tree.At(target, path)
		n, ok := tree.Int(at)
		if !ok || n < 0 || n > math.MaxInt32 {
			return 0, &tree.Error{
				Path: "spec.targetFilter.replicasPathList", Msg: "path " + path + " does not lead to a number of pods in the target",
				Hint: "write a dotted path such as spec.replicas",
			}
		}
		sum += int(n)
	}
	return min(sum, math.MaxInt32), nil
}

// Pods is how many pods the target has at a time: spec.replicas, spec.parallelism
// of a Job, else 1.
func Pods(target *tree.Node) int {
	field := "replicas"
	if tree.StrAt(target, "kind") == "Job" {
		field = "parallelism"
	}
	n, ok := tree.Int(tree.Get(target, "spec", field))
	if !ok {
		return 1
	}
	return int(min(max(n, 0), math.MaxInt32))
}
