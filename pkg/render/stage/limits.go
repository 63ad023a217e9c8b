package stage

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Limits bound what rendering makes of its input: manifests can be untrusted, and a few lines
// of them can become very many objects. 0 in any
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

// Spend takes n, and reports whether the limit is kept. A caller that gets false stops
// making things; the error is that of [Budget.Err], so that no order of goroutines shows.
func (b *Budget) Spend(n int) bool { return b.spend(int64(n)) }

func (b *Budget) spend(n int64) bool { return b.spent.Add(n) <= b.limit }

// Err is nil unless more was spent than there is; format gets the limit with the noun.
func (b *Budget) Err(format, noun string) error {
	if b.spent.Load() <= b.limit {
		return nil
	}
	return fmt.Errorf(format, counted.Of(int(b.limit), noun))
}

// Room is what the output may still hold. It is counted before things are made: what
// does not fit is never there.
type Room struct {
	most         Limits
	nodes, bytes *Budget
}

// Room returns the whole room that the limits of the context give.
func (c *Context) Room() *Room { return c.Limits.Room() }

// Room returns the whole room that the limits give.
func (l Limits) Room() *Room {
	most := l.OrDefault()
	return &Room{most: most, nodes: NewBudget(most.OutputNodes), bytes: NewBudget(most.OutputBytes)}
}

// Take takes the room of w, and reports whether there was any left.
func (r *Room) Take(w tree.Weight) bool {
	nodes, bytes := r.nodes.spend(w.Nodes), r.bytes.spend(w.Bytes)
	return nodes && bytes
}

// Err is nil unless more was taken than there is; what names what would hold too much.
func (r *Room) Err(what string) error {
	var limit string
	switch {
	case r.nodes.spent.Load() > r.nodes.limit:
		limit = "output-nodes"
	case r.bytes.spent.Load() > r.bytes.limit:
		limit = "output-bytes"
	default:
		return nil
	}
	return &resource.Error{Err: fmt.Errorf("%s would hold more than %s", what, r.most.output(limit)), Hint: splitHint(limit, r.most.raisedLimit(limit))}
}

// output reports how much the output may hold, as its limit of that name has it.
func (l Limits) output(limit string) string {
	if limit == "output-nodes" {
		return fmt.Sprintf("%d values and keys", l.OutputNodes)
	}
	return fmt.Sprintf("%s of text", size(int64(l.OutputBytes)))
}

// raisedLimit is a value to raise the limit to: how much the whole output would hold is not known when
// rendering stops.
func (l Limits) raisedLimit(limit string) string {
	if limit == "output-nodes" {
		return strconv.FormatInt(2*int64(l.OutputNodes), 10)
	}
	return strconv.FormatInt(2*int64(l.OutputBytes), 10)
}

func splitHint(limit, value string) string {
	return "render parts of it separately, or raise the limit with --limit " + limit + "=" + value
}

// Fits refuses copies of an object if times copies, called what, are more than the whole output
// may hold. field is the field of the object with that number.
func (c *Context) Fits(r *resource.Resource, field string, each tree.Weight, times int, what string) error {
	err := c.fits(r, field, each, times, what)
	if e, ok := errors.AsType[*resource.Error](err); ok {
		e.Limit = true
	}
	return err
}

func (c *Context) fits(r *resource.Resource, field string, each tree.Weight, times int, what string) error {
	most := c.Limits.OrDefault()
	over := func(one int64, limit int) bool { return times > 0 && one > int64(limit)/int64(times) }
	switch {
	case over(each.Nodes, most.OutputNodes):
		return r.Fault(field, splitHint("output-nodes", "N"), "%d %s with %d values and keys each are more than the %s that the output may hold",
			times, what, each.Nodes, most.output("output-nodes"))
	case over(each.Bytes, most.OutputBytes):
		return r.Fault(field, splitHint("output-bytes", "N"), "%d %s with %s each are more than the %s that the output may hold",
			times, what, size(each.Bytes), most.output("output-bytes"))
	}
	return nil
}

// size writes a number of bytes in a readable unit.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return counted.Of(int(n), "byte")
}
