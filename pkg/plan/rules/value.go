package rules

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Unlimited stands for a limit that is not set.
const Unlimited = math.MaxInt32

// scaled resolves a number or a whole percentage of base. What cannot be read,
// such as a fractional percentage, is 0: webhooks let those through and the
// controllers count them as nothing (docs/kruise/workloads.md#percentages-and-defaults).
func scaled(v *intstr.IntOrString, base int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, base, up)
	if err != nil {
		return 0
	}
	return n
}

// scaledOr is scaled, with a default for a value that is not set.
func scaledOr(v *intstr.IntOrString, byDefault intstr.IntOrString, base int, up bool) int {
	if v == nil {
		v = &byDefault
	}
	return scaled(v, base, up)
}

// percentage reads a percentage, which may have a fraction.
func percentage(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(number, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// number returns v, or byDefault.
func number(v *int32, byDefault int) int {
	if v == nil {
		return byDefault
	}
	return int(*v)
}
