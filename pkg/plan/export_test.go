package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Preventions are the names of what native parents prevent, for tests.
func Preventions() (names []string) {
	w := &cluster.Workload{Object: &appsv1.Deployment{}}
	for _, limit := range (&reviewer{newBuilder(w, w, Snapshot{Workload: w}, Policy{})}).parentLimits() {
		names = append(names, limit.name)
	}
	return names
}

// BlockedByBudget is what a rollout of Kruise's driver says of budgets.
func BlockedByBudget(s Snapshot, now time.Time) (list []Blocker, never bool) {
	return (&run{rollout: rollout{plan: &Plan{Driver: DriverKruise}, snap: &s, now: now}}).blockedByBudget()
}
