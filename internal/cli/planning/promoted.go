package planning

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// Promoted drives a plan with somebody who promotes every pause at once.
func Promoted() simulate.RolloutOptions {
	at := time.Duration(0)
	return simulate.RolloutOptions{Promote: &at}
}
