package simulate

import (
	"container/heap"
	"errors"
	"time"
)

// clock is virtual time: it moves only when a caller asks for the next event.
type clock struct {
	start time.Time
	at    time.Duration
	seq   uint64
	queue events
	// active is when something happened last that users would see.
	active time.Duration
	// errs are bugs of a controller's model, which the next Run returns.
	errs []error
}

// event is something that happens at a moment. Events of one moment happen in
// the order in which they were planned.
type event struct {
	at  time.Duration
	seq uint64
	do  func()
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

// runUntil lets everything happen that is due until a time.
func (c *clock) runUntil(until time.Time) error {
	limit := until.Sub(c.start)
	for c.step(limit) {
		if err := c.fault(); err != nil {
			return err
		}
	}
	c.at = max(c.at, limit)
	return c.fault()
}

// settle lets things happen until nothing has happened for as long as still, or until the limit
// has passed. It reports whether the cluster settled.
func (c *clock) settle(still, limit time.Duration) (bool, error) {
	end := c.at + limit
	c.active = c.at
	for c.step(min(c.active+still, end)) {
		if err := c.fault(); err != nil {
			return false, err
		}
	}
	settled := c.active+still <= end || len(c.queue) == 0
	c.at = max(c.at, min(c.active+still, end))
	return settled, c.fault()
}

// fault returns the bugs of a model that were found.
func (c *clock) fault() error {
	err := errors.Join(c.errs...)
	c.errs = nil
	return err
}

// wakeup is when a controller looks at one object next: 0 when nothing has asked it
// to, else one more than the time.
type wakeup struct{ due time.Duration }

// wakeAfter has do run after a delay, unless it will run sooner anyway. Everything
// that happens until then comes to that one run.
func (c *clock) wakeAfter(t *wakeup, d time.Duration, do func()) {
	due := c.at + d + 1
	if t.due > 0 && t.due <= due {
		return
	}
	t.due = due
	c.after(d, func() {
		if t.due == due {
			t.due = 0
			do()
		}
	})
}

// events is a heap.
type events []event

func (q events) Len() int { return len(q) }

func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || (q[i].at == q[j].at && q[i].seq < q[j].seq)
}

func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *events) Push(x any) { *q = append(*q, x.(event)) }

func (q *events) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}
