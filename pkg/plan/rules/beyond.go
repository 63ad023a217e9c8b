package rules

// Beyond is what a budget covers besides the pods that are seen: pods of other
// workloads, in the view of somebody who watches one.
type Beyond struct {
	// Expected adds to how many pods the budget expects, Available to how many of
	// them it counts as available.
	Expected, Available int
}
