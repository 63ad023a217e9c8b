package kube

import (
	"maps"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// answers are what was found out for the rollout that no object of the workload
// shows: results of questions and restarts, and how far pulls have come.
type answers struct {
	changed func()

	mu       sync.Mutex
	verified map[string]plan.Result
	pulled   map[string]int
	pulling  map[string]bool
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

// setPulled keeps on how many nodes an image is, and that it was asked for.
func (a *answers) setPulled(image string, nodes int) {
	a.mu.Lock()
	if a.pulled == nil {
		a.pulled, a.pulling = map[string]int{}, map[string]bool{}
	}
	same := a.pulling[image] && a.pulled[image] == nodes
	a.pulled[image], a.pulling[image] = nodes, true
	a.mu.Unlock()
	if !same {
		a.changed()
	}
}

// fill adds the answers to a snapshot.
func (a *answers) fill(s *plan.Snapshot) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Verified, s.Pulled, s.Pulling = maps.Clone(a.verified), maps.Clone(a.pulled), maps.Clone(a.pulling)
}
