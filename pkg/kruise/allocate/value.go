package allocate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// unlimited represents a maximum that is not given. No subset can hold more.
const unlimited = math.MaxInt32

// Resolve returns the number of pods that v means: a number from 0, or a whole
// percentage from 0% to 100% of replicas, rounded half up
// (docs/kruise/distribution.md#which-allocator).
func Resolve(v intstr.IntOrString, replicas int32) (int32, error) {
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
	n, err := Resolve(*v, base)
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
