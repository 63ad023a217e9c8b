package plan

import (
	"time"
)

// Preventions are the names of what native parents prevent, for tests.
func Preventions() (names []string) {
	for _, row := range parentLimits {
		names = append(names, row.name)
	}
	return names
}

// BlockedByBudget is what a rollout of Kruise's driver says of budgets.
func BlockedByBudget(s Snapshot, now time.Time) (list []Blocker, never bool) {
	return (&run{rollout: rollout{plan: &Plan{Driver: DriverKruise}, snap: &s, now: now}}).blockedByBudget()
}
