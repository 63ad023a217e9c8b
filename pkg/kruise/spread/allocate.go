package spread

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Subset is what allocation reads of spec.topology.subsets[i].
type Subset struct {
	Name string
	// Replicas, Min and Max are numbers of pods or percentages of
	// spec.replicas; nil is not given.
	Replicas, Min, Max *intstr.IntOrString
	SubsetState
}

// SubsetState is what is known of the workload that a subset has now. The zero value
// is a subset without a workload.
type SubsetState struct {
	// Current is spec.replicas of the workload.
	Current int32
	// Ready is status.readyReplicas of the workload.
	Ready int32
	// Unschedulable is true if new pods should go elsewhere: the subset's
	// condition Schedulable is False, or pods of it have been pending too long.
	Unschedulable bool
	// Reserved is the number of pods that are replaced elsewhere while they
	// stay (reserveUnschedulablePods).
	Reserved int32
}

// Allocation is what there is to divide.
type Allocation struct {
	// Replicas is spec.replicas; nil is not given, which only v1.9.0 knows.
	Replicas *int32
	Subsets  []Subset
	// adaptive is scheduleStrategy.type Adaptive, Reserve its
	// reserveUnschedulablePods.
	Adaptive, Reserve bool
}

// Allocate divides the replicas of a UnitedDeployment: it returns the pods of each subset, in the
// order of in.Subsets, from the allocator that Kruise would choose, with its exact arithmetic
// (docs/kruise/distribution.md#which-allocator). The caller decides whether a subset is unschedulable. The
// error holds every fault found, joined, each a *tree.Error whose path starts
// at the UnitedDeployment.
func Allocate(in Allocation) ([]int32, error) {
	switch {
	case in.Adaptive && in.Reserve:
		return reservedReplicas(in.Replicas, in.Subsets)
	case in.Adaptive:
		return adaptive(in.Replicas, in.Subsets)
	case bounded(in.Subsets):
		// Fill subsets in the order of their declaration: first all up to minReplicas, then all up to maxReplicas. The current
		// state plays no role; replicas that no subset may take stay unallocated (docs/kruise/distribution.md#which-allocator).
		rest, limits, err := limits(in.Replicas, in.Subsets)
		if err != nil {
			return nil, err
		}
		return counts(fill(rest, limits)), nil
	default:
		return specified(in.Replicas, in.Subsets)
	}
}

// bounded reports whether any subset gives a minimum or a maximum.
func bounded(subsets []Subset) bool {
	for _, s := range subsets {
		if s.Min != nil || s.Max != nil {
			return true
		}
	}
	return false
}

const (
	fieldReplicas = "spec.replicas"
	fieldSubsets  = "spec.topology.subsets"
)

// field is the path of one field of the subset with this index.
func field(i int, name string) string { return fmt.Sprintf("%s[%d].%s", fieldSubsets, i, name) }

func fault(path, hint, format string, args ...any) error {
	return &tree.Error{Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// counts narrows the result of a calculation. Every allocator keeps its values
// between 0 and a limit that is an int32 itself, so nothing is cut here.
func counts(values []int64) []int32 {
	out := make([]int32, len(values))
	for i, v := range values {
		out[i] = int32(min(max(v, 0), math.MaxInt32))
	}
	return out
}

// unlimited represents a maximum that is not given. No subset can hold more.
const unlimited = math.MaxInt32

// resolveAmount returns the number of pods that v means: a number from 0, or a whole
// percentage from 0% to 100% of replicas, rounded half up
// (docs/kruise/distribution.md#which-allocator).
func resolveAmount(v intstr.IntOrString, replicas int32) (int32, error) {
	if v.Type == intstr.Int {
		if v.IntVal < 0 {
			return 0, fmt.Errorf("%d is negative", v.IntVal)
		}
		return v.IntVal, nil
	}
	digits, percent := strings.CutSuffix(v.StrVal, "%")
	p, err := strconv.ParseInt(digits, 10, 32)
	switch {
	case !percent || err != nil:
		return 0, fmt.Errorf("%q is neither a number nor a whole percentage", v.StrVal)
	case p < 0 || p > 100:
		return 0, fmt.Errorf("%s is not between 0%% and 100%%", v.StrVal)
	}
	return int32((int64(replicas)*p + 50) / 100), nil
}

const valueHint = "write a number such as 3, or a percentage of spec.replicas such as 30%"

// resolve is Resolve for an optional field of subset i; missing is the value
// of a field that is not given.
func resolve(v *intstr.IntOrString, i int, name string, replicas *int32, missing int64) (int64, error) {
	switch {
	case v == nil:
		return missing, nil
	case replicas == nil && v.Type == intstr.String:
		return 0, fault(field(i, name), "set spec.replicas", "%s is a share of spec.replicas, which is not given", v.StrVal)
	}
	var base int32
	if replicas != nil {
		base = *replicas
	}
	n, err := resolveAmount(*v, base)
	if err != nil {
		return 0, fault(field(i, name), valueHint, "%s", err)
	}
	return int64(n), nil
}

// total is spec.replicas for the allocators that cannot do without it.
func total(replicas *int32) (int64, error) {
	switch {
	case replicas == nil:
		return 0, fault(fieldReplicas, "set spec.replicas", "minReplicas and maxReplicas need spec.replicas")
	case *replicas < 0:
		return 0, fault(fieldReplicas, "", "%d is negative", *replicas)
	}
	return int64(*replicas), nil
}
