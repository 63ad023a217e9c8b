package lower

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultUnavailable is a CloneSet's maxUnavailable where none is given.
var defaultUnavailable = intstr.FromString("20%")

// share returns the number of pods that v means out of replicas. A fractional
// percentage, which Kruise's webhook lets through, counts as 0
// (docs/kruise/workloads.md#percentages-and-defaults).
func share(v intstr.IntOrString, replicas int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, replicas, up)
	if err != nil {
		return 0
	}
	return n
}

// cloneSetBudget returns how many pods a CloneSet may have beyond replicas
// during an update, and how many may be unavailable
// (docs/kruise/workloads.md#percentages-and-defaults).
func cloneSetBudget(surge, unavailable intstr.IntOrString, replicas int) (more, down int) {
	more = share(surge, replicas, true)
	return more, share(unavailable, replicas, more == 0)
}

// deploymentBudget returns the same for a Deployment: it rounds down, and
// takes 1 where nothing could move.
func deploymentBudget(surge, unavailable intstr.IntOrString, replicas int) (more, down int) {
	more, down = share(surge, replicas, true), share(unavailable, replicas, false)
	if more == 0 && down == 0 {
		down = 1
	}
	return more, down
}

// kept returns how many pods a CloneSet's partition keeps at the old revision
// (docs/kruise/workloads.md#partition). What cannot be read counts as 0.
func kept(partition intstr.IntOrString, replicas int) int {
	if partition.Type == intstr.Int {
		return min(max(partition.IntValue(), 0), replicas)
	}
	n := percentUp(strings.TrimSuffix(partition.StrVal, "%"), replicas)
	if replicas > 1 && n == replicas && partition.StrVal != "100%" {
		n--
	}
	return min(n, replicas)
}

// manyPercent bounds percentages before they are multiplied.
const manyPercent = 1_000_000

// percentUp returns the share rounded up. Whole percentages are calculated in
// integers, where a float would round 7% of 100 to 8.
func percentUp(percent string, replicas int) int {
	if p, err := strconv.Atoi(percent); err == nil {
		p = min(max(p, 0), manyPercent)
		return (p*replicas + 99) / 100
	}
	p, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(p > 0) {
		return 0
	}
	return int(math.Ceil(min(p, manyPercent) * float64(replicas) / 100))
}

// accepted returns v in a form that native workloads accept and that means the
// same: a fractional percentage is 0, and more than all is all.
func accepted(v intstr.IntOrString) intstr.IntOrString {
	if v.Type == intstr.Int {
		return v
	}
	p, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err != nil || p < 0 {
		return intstr.FromInt32(0)
	}
	return v
}

// atMostAll returns v with percentages above 100 cut, for maxUnavailable.
func atMostAll(v intstr.IntOrString) intstr.IntOrString {
	if v.Type == intstr.String && share(v, 100, false) > 100 {
		return intstr.FromString("100%")
	}
	return v
}

// none reports whether v is zero however many replicas there are.
func none(v intstr.IntOrString) bool { return share(v, 100, true) == 0 }
