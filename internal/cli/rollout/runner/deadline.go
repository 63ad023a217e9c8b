package runner

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// slack is added to the time that a plan may take: images are pulled, nodes are found, and a
// Lease is waited for after a runner was killed.
const slack = time.Hour

// Deadline is how long the runner of a rollout may take: for each plan twice the time limits of its
// steps and pauses, since a way back takes time and a step that is taken over begins its time
// again, one after the other, and an hour. It is 0, no bound, where a person has to promote or a
// step has no limit.
func Deadline(plans []plan.Plan) time.Duration {
	var sum time.Duration
	for i := range plans {
		limit, bounded := twiceLimits(&plans[i])
		if !bounded {
			return 0
		}
		sum += limit
	}
	return sum + slack
}

// twiceLimits is twice the time limits of the steps and pauses of a plan; bounded is false
// where one has none.
func twiceLimits(p *plan.Plan) (limit time.Duration, bounded bool) {
	var sum time.Duration
	for i := range p.Steps {
		s := &p.Steps[i]
		limit := time.Duration(s.Timeout)
		if s.Pause != nil {
			limit = time.Duration(s.Pause.For)
		}
		if limit <= 0 {
			return 0, false
		}
		sum += limit
	}
	return 2 * sum, true
}
