package demo

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// beat is how finely rollouts follow what happens.
const beat = 250 * time.Millisecond

// Advance lets time go by, in whole beats; the rest of it is kept for the next call. So the
// story does not depend on the portions in which time goes by.
func (c *Cluster) Advance(by time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due += by; c.due < beat {
		return c.ctx.Err()
	}
	for ; c.due >= beat; c.due -= beat {
		if err := c.world.Run(c.world.Now().Add(beat)); err != nil {
			return err
		}
		for _, ref := range c.refs {
			if r := c.runs[ref]; r != nil && !r.over {
				r.turn = true
				c.moved.Broadcast()
				c.await(r)
			}
		}
		if err := c.look(); err != nil {
			return err
		}
	}
	c.version++
	c.moved.Broadcast()
	return c.ctx.Err()
}

// look works out anew what has changed, and notes what happened to pods.
func (c *Cluster) look() error {
	for _, ref := range c.refs {
		s, err := c.world.Snapshot(ref)
		if err != nil {
			return err
		}
		before := c.details[ref]
		if before != nil && before.Snapshot.Version == s.Version && before.Holder == c.holder(ref) {
			continue
		}
		if before != nil && ref.Kind != kruise.KindSidecarSet {
			c.compare(ref, before.Snapshot.Pods, s.Pods)
		}
		q := c.question(ref, s)
		if ref.Kind == kruise.KindSidecarSet {
			c.sets[ref] = q
		}
		d := world.Describe(q, c.events[ref])
		if book, ok := c.books[ref]; ok {
			book.Progress = s.Progress
			d.Rollouts = book.Rollouts()
		}
		c.details[ref] = d
	}
	return nil
}

func (c *Cluster) question(ref cluster.Ref, s plan.Snapshot) diagnose.Question {
	q := diagnose.Question{Name: nameOf(ref), Plan: plan.Standing(s), Snapshot: s, Now: c.world.Now(), Holder: c.holder(ref)}
	if r := c.runs[ref]; r != nil {
		q.Plan, q.Begun = r.plan, true
	}
	return q
}

// driver is who drives the rollouts of the shop.
const driver = "ci@demo"

func (c *Cluster) holder(ref cluster.Ref) string {
	if r := c.runs[ref]; r != nil && !r.over {
		return driver
	}
	return ""
}
