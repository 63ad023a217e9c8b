package simulate

import (
	"container/heap"
	"time"
)

// event is something that happens at a moment. Events of one moment happen in
// the order in which they were planned.
type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

// clock is virtual time: it stands still until somebody asks for the next event.
type clock struct {
	start time.Time
	at    time.Duration
	seq   uint64
	queue events
}

func (c *clock) now() time.Time { return c.start.Add(c.at) }

// after plans an event; it never happens before the present moment.
func (c *clock) after(d time.Duration, do func()) {
	c.seq++
	heap.Push(&c.queue, event{c.at + max(d, 0), c.seq, do})
}

// step runs the next event that is due until limit, and reports whether there
// was one.
func (c *clock) step(limit time.Duration) bool {
	if len(c.queue) == 0 || c.queue[0].at > limit {
		return false
	}
	e := heap.Pop(&c.queue).(event)
	c.at = e.at
	e.do()
	return true
}

// events is a heap.
type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || (q[i].at == q[j].at && q[i].seq < q[j].seq)
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}
