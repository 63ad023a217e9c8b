package stage

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Room is what the output may still hold. It is counted before things are made: what
// does not fit is never there.
type Room struct {
	most         Limits
	nodes, bytes *Budget
}

// Room returns the whole room that the limits give.
func (c *Context) Room() *Room {
	most := c.Limits.OrDefault()
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
	return &resource.Error{Err: fmt.Errorf("%s would hold more than %s", what, r.most.output(limit)), Hint: apart(limit)}
}

// output says how much the output may hold, as its limit of that name has it.
func (l Limits) output(limit string) string {
	if limit == "output-nodes" {
		return fmt.Sprintf("%d values and keys", l.OutputNodes)
	}
	return fmt.Sprintf("%s of text", size(int64(l.OutputBytes)))
}

func apart(limit string) string {
	return "render parts of it apart, or raise the limit with --limit " + limit + "=N"
}

// Fits refuses what an object would be multiplied into: so many times each, called
// what, is more than the whole output may hold. field is that of the object that says
// how often.
func (c *Context) Fits(r *resource.Resource, field string, each tree.Weight, times int, what string) error {
	most := c.Limits.OrDefault()
	over := func(one int64, limit int) bool { return times > 0 && one > int64(limit)/int64(times) }
	switch {
	case over(each.Nodes, most.OutputNodes):
		return r.Fault(field, apart("output-nodes"), "%d %s with %d values and keys each are more than the %s that the output may hold",
			times, what, each.Nodes, most.output("output-nodes"))
	case over(each.Bytes, most.OutputBytes):
		return r.Fault(field, apart("output-bytes"), "%d %s with %s each are more than the %s that the output may hold",
			times, what, size(each.Bytes), most.output("output-bytes"))
	}
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
