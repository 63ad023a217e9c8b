package stage

// SpreadAs says what becomes of the target of a WorkloadSpread.
type SpreadAs string

// The forms of a spread target.
const (
	// SpreadSplit makes a workload of each subset.
	SpreadSplit SpreadAs = "split"
	// SpreadConstraints leaves one workload, whose pods have preferences and
	// topology spread constraints.
	SpreadConstraints SpreadAs = "constraints"
)
