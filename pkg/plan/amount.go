package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Amount is a number of pods, or a percentage of them.
type Amount struct {
	Value   float64
	Percent bool
}

// All is every pod.
var All = Amount{100, true}

// Pods is a number of pods.
func Pods(n int) Amount { return Amount{float64(n), false} }

// String spells an amount as it is read: 3 or 10%.
func (a Amount) String() string {
	text := strconv.FormatFloat(a.Value, 'f', -1, 64)
	if a.Percent {
		return text + "%"
	}
	return text
}

// Of returns how many of total pods the amount is. A percentage is rounded up, so
// that it is at least one pod, but less than 100% never comes to all of several:
// a step that is meant to leave pods behind does.
func (a Amount) Of(total int) int {
	if !a.Percent {
		return max(0, min(int(a.Value), total))
	}
	n := int(math.Ceil(a.Value * float64(total) / 100))
	if a.Value < 100 && total > 1 {
		n = min(n, total-1)
	}
	return max(0, min(n, total))
}

const amountHint = "write a number of pods, such as 3, or a percentage, such as 10%"

// ParseAmount reads 3 or 10%; fractions of a percent are allowed.
func ParseAmount(text string) (Amount, error) {
	text = strings.TrimSpace(text)
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(v) || v <= 0 || v > 100 {
			return Amount{}, fault("%q is not a percentage from above 0% to 100%", amountHint, text)
		}
		return Amount{v, true}, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return Amount{}, fault("%q is not a number of pods", amountHint, text)
	}
	return Amount{float64(n), false}, nil
}

// fault is an error with a hint and without a place; %q in msg is the text.
func fault(msg, hint, text string) *tree.Error {
	return &tree.Error{Msg: strings.Replace(msg, "%q", strconv.Quote(text), 1), Hint: hint}
}
