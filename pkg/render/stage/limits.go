package stage

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// Limits bound what rendering makes of its input: manifests may come from people whom
// nobody has asked, and a few lines of them can stand for very many objects. 0 in any
// field means the default.
type Limits struct {
	// Subsets is how many one UnitedDeployment or WorkloadSpread may have.
	Subsets int
	// Objects is how many the output may hold, between all stages.
	Objects int
	// Copies is how many the ResourceDistributions of a run become together, CopyBytes
	// how large these are together.
	Copies, CopyBytes int
	// Containers is how many SidecarSets put into pod templates in a run.
	Containers int
	// OutputNodes are the values and keys of all objects that rendering makes or changes,
	// between all stages; OutputBytes the text of all objects, about. What several objects
	// share counts for each of them.
	OutputNodes, OutputBytes int
}

// The limits that apply where no others are given: several times what a large cluster
// has, and little enough for 2 GiB of memory (docs/security.md has what was measured).
const (
	defaultSubsets     = 1000
	DefaultObjects     = 250_000
	DefaultCopies      = 100_000
	DefaultCopyBytes   = 256 << 20
	DefaultContainers  = 1_000_000
	DefaultOutputNodes = 3_000_000
	DefaultOutputBytes = 256 << 20
)

// OrDefault fills in the defaults.
func (l Limits) OrDefault() Limits {
	return Limits{
		Subsets:     cmp.Or(l.Subsets, defaultSubsets),
		Objects:     cmp.Or(l.Objects, DefaultObjects),
		Copies:      cmp.Or(l.Copies, DefaultCopies),
		CopyBytes:   cmp.Or(l.CopyBytes, DefaultCopyBytes),
		Containers:  cmp.Or(l.Containers, DefaultContainers),
		OutputNodes: cmp.Or(l.OutputNodes, DefaultOutputNodes),
		OutputBytes: cmp.Or(l.OutputBytes, DefaultOutputBytes),
	}
}

// Budget counts on all cores against a limit. The zero value allows nothing.
type Budget struct {
	limit int64
	spent atomic.Int64
}

// NewBudget returns a budget of limit things.
func NewBudget(limit int) *Budget { return &Budget{limit: int64(limit)} }

// Spend takes n, and reports whether the limit is kept. Who hears false stops making
// things; the error is that of [Budget.Err], so that no order of goroutines shows.
func (b *Budget) Spend(n int) bool { return b.spend(int64(n)) }

func (b *Budget) spend(n int64) bool { return b.spent.Add(n) <= b.limit }

// Err is nil unless more was spent than there is; format gets the limit.
func (b *Budget) Err(format string) error {
	if b.spent.Load() <= b.limit {
		return nil
	}
	return fmt.Errorf(format, b.limit)
}
