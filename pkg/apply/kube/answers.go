package kube

import (
	"context"
	"maps"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// answers are what was found out for the rollout that no object of the cluster shows:
// results of questions, and who pulls images on behalf of this process.
type answers struct {
	changed func()

	mu       sync.Mutex
	verified map[string]plan.Result
	// asking ends the questions that are being asked, by step.
	asking map[string]context.CancelFunc
	// pullers are the pulls that this process goes on with, by mark; the text is why
	// one has ended that did not get to its end.
	pullers map[string]*puller
}

// set keeps the result of a question.
func (a *answers) set(key string, r plan.Result) {
	a.mu.Lock()
	if a.verified == nil {
		a.verified = map[string]plan.Result{}
	}
	a.verified[key] = r
	a.mu.Unlock()
	a.changed()
}

// begin ends the question that a step has asked before, if it is still being asked.
func (a *answers) begin(step string, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking == nil {
		a.asking = map[string]context.CancelFunc{}
	}
	if before := a.asking[step]; before != nil {
		before()
	}
	a.asking[step] = cancel
}

// results are the results of questions.
func (a *answers) results() map[string]plan.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.verified)
}

// fillAnswers adds to a snapshot what was asked for in the present step, as the
// cluster shows it, and the answers to questions.
func (c *Cluster) fillAnswers(s *plan.Snapshot, rec plan.Record) error {
	s.Verified = c.answers.results()
	step := rec.Present()
	if step == nil {
		return nil
	}
	m := markOf(c.opt.Target.Ref, rec.Progress)
	c.needLater(step)
	switch {
	case step.Pull != nil:
		return c.fillPulls(s, m, step.Pull)
	case step.Containers != nil:
		return c.fillRestarts(s, m, step)
	}
	return nil
}
